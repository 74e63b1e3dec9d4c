// A schedule template: src/baton/schedule/doubling.cc and BATON_TEMPLATE(template_doubling).
#include "baton/ir/rules/pass_traits.h"
#include "baton/schedule/template.h"

namespace baton {

namespace {

std::string refuses(const LoweredKernel& kernel, const DeviceSheet&) {
  const auto* rule = kernel.blocks.front().op->rules.get<AnchorRule>();
  return kernel.blocks.size() == 1 && rule && rule->of_template == "doubling" ? "" : "nothing is doubled";
}

ScheduleParams default_params(const LoweredKernel&, const DeviceSheet&) { return {{"vector", 4}}; }

std::vector<ScheduleParams> candidates(const LoweredKernel&, const DeviceSheet&) { return {{{"vector", 4}}}; }

void apply(LoweredKernel& kernel, const ScheduleParams& params, const DeviceSheet&) {
  Halide::Func out = kernel.outputs.front().func();
  if (out.dimensions() > 0)
    out.vectorize(out.args()[0], params.at("vector"), Halide::TailStrategy::GuardWithIf);
}

}  // namespace

const ScheduleTemplate& template_doubling() {
  static const ScheduleTemplate schedule{
      .name = "doubling",
      .doc = "What is doubled, four values at a time.",
      .refuses = refuses,
      .default_params = default_params,
      .candidates = candidates,
      .apply = apply,
      .loops = vector_loops,
  };
  return schedule;
}

}  // namespace baton
