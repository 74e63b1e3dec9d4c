// Reductions along the innermost axis (softmax, a dense layer without packed weight): several vectors of
// partial results per row, combined at the end of the row. Otherwise a row would be a serial chain of scalar
// steps.
#include <algorithm>

#include "baton/schedule/common.h"

namespace baton {
namespace {

using Halide::Func;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;

/// Elements per task, at least: an exponential costs more than an addition.
constexpr int64_t kRowElements = 1 << 12;

std::string first_reduction(const OpBlock& block) {
  for (const Stage& stage : block.stages)
    if (stage.func.has_update_definition()) return stage.name;
  return "";
}

int reduction_extent(Func func) {
  const auto& rvars = func.update().get_schedule().rvars();
  if (rvars.size() != 1) return 0;
  const auto* extent = rvars[0].extent.as<Halide::Internal::IntImm>();
  return extent ? static_cast<int>(extent->value) : 0;
}

std::string rows_refuses(const LoweredKernel& kernel, const DeviceSheet&) {
  if (kernel.anchor < 0) return "no heavy operator in the kernel";
  const OpBlock& anchor = anchor_of(kernel);
  const std::string reason = refuses_anchor(kernel, "rows", first_reduction(anchor));
  if (!reason.empty()) return reason;
  const Func& result = anchor.results.front();
  for (const Stage& stage : anchor.stages) {
    if (!stage.func.has_update_definition()) continue;
    if (stage.func.num_update_definitions() != 1 || reduction_extent(stage.func) == 0)
      return "no reduction along one axis of known extent";
    if (stage.func.name() == result.name()) return "the reduction is the result itself";
    // Softmax along the innermost axis: its row statistics have one axis less, the first in Halide's order.
    const bool dense = anchor.stage("dense") != nullptr;
    if (!dense && (result.dimensions() < 2 ||
                   (stage.func.dimensions() > 0 && stage.func.args()[0].name() != result.args()[1].name())))
      return "the reduction does not run along the innermost axis of a tensor of rank 2 or more";
  }
  return "";
}

ScheduleParams rows_default_params(const LoweredKernel&, const DeviceSheet& sheet) {
  return {{"lanes", 4 * sheet.float_lanes}};
}

std::vector<ScheduleParams> rows_candidates(const LoweredKernel&, const DeviceSheet& sheet) {
  return {{{"lanes", 4 * sheet.float_lanes}},
          {{"lanes", sheet.float_lanes}},
          {{"lanes", 2 * sheet.float_lanes}},
          {{"lanes", 8 * sheet.float_lanes}}};
}

void rows_apply(LoweredKernel& kernel, const ScheduleParams& params, const DeviceSheet& sheet) {
  const OpBlock& anchor = anchor_of(kernel);
  Func out = output_of(kernel);
  const std::vector<Var> i = out.args();
  const bool dense = anchor.stage("dense") != nullptr;
  Var row = i[0];
  if (!dense) {
    int64_t rows = 1;
    for (size_t axis = 0; axis + 1 < i.size(); ++axis) rows *= result_extent(kernel, static_cast<int>(axis));
    row = parallel_tasks(out, {i.begin() + 1, i.end()}, rows, result_extent(kernel, -1), kRowElements);
  }
  const std::string result = anchor.results.front().name();
  for (const Stage& stage : anchor.stages) {
    Func func = stage.func;
    if (func.name() == out.name()) continue;
    if (func.has_update_definition()) {
      func.compute_at(out, row);
      reduce_in_vectors(func, RVar(func.rvars()[0].name()), reduction_extent(func),
                        params.at("lanes") / sheet.float_lanes, sheet.float_lanes);
    } else if (func.name() != result && !dense) {  // the exponentials: stored, since they are read twice
      func.compute_at(out, row).vectorize(func.args()[0], sheet.float_lanes, TailStrategy::GuardWithIf);
    }
  }
  if (!dense) out.vectorize(i[0], sheet.float_lanes, TailStrategy::GuardWithIf);
  if (dense && i.size() == 2 && result_extent(kernel, 0) == 1)
    out.reorder(i[1], i[0]).parallel(i[0], std::min(16, result_extent(kernel, 1)), TailStrategy::GuardWithIf);
  else if (dense && i.size() > 1)
    out.parallel(i.back());
  schedule_feeders(kernel, sheet);
}

}  // namespace

const ScheduleTemplate& template_rows() {
  static const ScheduleTemplate def = {
      .name = "rows",
      .doc = "reductions along the innermost axis, in several vectors of partial results",
      .refuses = rows_refuses,
      .default_params = rows_default_params,
      .candidates = rows_candidates,
      .apply = rows_apply,
  };
  return def;
}

}  // namespace baton
