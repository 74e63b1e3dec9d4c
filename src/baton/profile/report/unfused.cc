// Inlines kernels with several operators into their caller, and makes each operator a kernel:
//   fn(p0, p1, Primitive=1) { relu(conv(p0, p1)) }(x, w)
//   -> %0 = fn(p0, p1, Primitive=1) { conv(p0, p1) }(x, w);  fn(p0, Primitive=1) { relu(p0) }(%0)

#include "baton/profile/report/unfused.h"

#include <map>

#include "baton/driver/pipeline.h"
#include "baton/driver/plan/region_attrs.h"
#include "baton/driver/regions.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/profile/report/report.h"
#include "baton/support/require.h"
#include "baton/transform/fuse/fuse_ops.h"

namespace baton {

namespace {

int operator_calls(const FunctionNode& function) {
  int count = 0;
  post_order(function.body(), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    count += call && call->op();
  });
  return count;
}

class Splitter final : public Rewriter {
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const auto* call = as<CallNode>(rebuilt);
    const auto* function = call ? as<FunctionNode>(call->callee()) : nullptr;
    if (!function || !function->is_primitive() || !region_of(*function).empty() ||
        operator_calls(*function) < 2)
      return rebuilt;
    std::unordered_map<const ExprNode*, Expr> values;
    for (size_t i = 0; i < call->args().size(); ++i)
      values.emplace(function->params()[i].get(), call->args()[i]);
    return substitute(function->body(), values);
  }
};

}  // namespace

IRModule take_apart(const IRModule& optimized, const BuildContext& around) {
  // A fresh PassContext: the user's pass options applied to the original build.
  const BuildContext context = around.with_passes(std::make_shared<PassContext>());
  const Pass split = function_pass({0, "TakeApart", {"InferType"}},
                                   [](const Function& function, const IRModule&, const PassContext&) {
                                     return as_ref<FunctionNode>(Splitter().run(Expr(function)));
                                   });
  const Pass apart = sequential({split, make_pass("InferType"), fuse_ops_at(0)});
  return prepare_kernels((*apart)(optimized->copy(), context), context);
}

UnfusedModel build_unfused(const BuildResult& built, const Executor& fused, const BuildOptions& how) {
  BuildOptions options = how;
  options.mod_name = built.mod_name;
  options.context.targets = built.targets;
  UnfusedModel model;
  model.built = build_prepared(take_apart(built.optimized, how.context), options);
  model.executor = make_executor(model.built);
  model.executor->set_threads(fused.threads());
  for (size_t i = 0; i < fused.num_inputs(); ++i) {
    const int node = model.executor->find_input_node(fused.input_node(i).name);
    if (node >= 0) require(model.executor->set_input(fused.input_node(i).name, fused.input(i)));
  }
  return model;
}

void add_unfused(ProfileReport& report, const UnfusedModel& model, const FusedTimes& times) {
  report.unfused.clear();
  report.unfused_us = times.plain.rounds_us.empty() ? median(times.plain_us) : times.plain.us;
  std::map<std::string, const BuiltKernel*> kernels;
  for (const BuiltKernel& kernel : model.built.kernels) kernels[kernel.func_name] = &kernel;
  for (OperatorRow& row : report.operators) row.unfused_us.reset();
  for (size_t i = 0; i < times.nodes.size(); ++i) {
    const PlanNode& node = model.executor->plan().nodes[times.nodes[i]];
    UnfusedRow row{node.name, node.origins, node.made_for, median(times.node_us[i])};
    if (model.executor->plan().is_simulated(times.nodes[i]))
      row.simulated = node.backend.empty() ? "sim" : node.backend;
    if (i < times.node_times.size()) {
      row.median_us = times.node_times[i].us;
      row.plus_minus_us = times.node_times[i].plus_minus_us;
      row.under_load = times.node_times[i].under_load;
      row.disturbed_us = times.node_times[i].disturbed_us;
      row.core_ns = times.node_times[i].core_ns;
    }
    if (const auto at = kernels.find(node.func_name); at != kernels.end()) {
      row.flops = at->second->kernel->facts.flops;
      row.bytes = at->second->kernel->facts.bytes;
      row.backend = node.backend;
      row.relay = function_text(at->second->function);
      row.template_name = at->second->kernel->template_name;
      row.params = at->second->kernel->params;
    }
    row.samples_us = times.node_us[i];
    for (uint32_t id : row.origins) {
      auto& us = report.operators.at(id).unfused_us;
      us = us.value_or(0) + row.median_us / static_cast<double>(row.origins.size());
    }
    report.unfused.push_back(std::move(row));
  }
}

}  // namespace baton
