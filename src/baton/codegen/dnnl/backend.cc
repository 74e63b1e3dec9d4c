// The compile-time half of `dnnl`, which gives regions to oneDNN; the other half, which alone needs that
// library, is runtime/plugins/dnnl. It has no device: regions run in the memory of the host.
#include "baton/codegen/backend.h"

#include <algorithm>
#include <cstdio>

#include "baton/codegen/dnnl/lower.h"
#include "baton/codegen/dnnl/patterns.h"
#include "baton/ir/build.h"
#include "baton/ir/functions.h"
#include "baton/ir/visit.h"
#include "baton/pass/inline_call.h"
#include "baton/pass/pass.h"
#include "baton/runtime/plugin.h"
#include "baton/support/error.h"

namespace baton {
namespace {

class CompositeInliner final : public Rewriter {
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const auto* call = as<CallNode>(rebuilt);
    const auto* function = call ? as<FunctionNode>(call->callee()) : nullptr;
    return function && function->attr("Composite") ? inlined_call(*function, call->args()) : rebuilt;
  }
};

const Plugin& plugin() {
  const auto found = Plugin::find("dnnl");
  if (!found.ok())
    throw NotSupported("regions for dnnl need oneDNN: " + found.status().message +
                       "; install the wheels onednn-cpu-gomp and onednn-devel-cpu-gomp 2023.2.0 (`./baton "
                       "setup` does) and build Baton again");
  return **found;
}

/// Why oneDNN has no primitives for the function; empty when it has.
std::string refusal(const FunctionNode& function) {
  std::vector<DnnlRegion> regions;
  try {
    regions.push_back(lower_for_dnnl(function, "region"));
  } catch (const NotSupported& error) {
    return error.what();
  }
  const std::string blob = dnnl_blob_of(std::move(regions), /*check_only=*/true);
  const auto module =
      PluginModule::load(plugin(), {reinterpret_cast<const uint8_t*>(blob.data()), blob.size()});
  return module.ok() ? "" : module.status().message;
}

/// fn (p..) { body }  ->  fn (p..) { fn (p.., Primitive=1) { body }(p..) }: the region is one kernel.
Function as_one_kernel(const Function& region) {
  std::vector<Var> inner, outer;
  std::unordered_map<const ExprNode*, Expr> values;
  for (const Var& param : region->params()) {
    const Type& type = declared_type(*param);
    inner.push_back(make_var(param->name(), type, NodeInfo(OriginSet::none(), {}, type)));
    outer.push_back(make_var(param->name(), type, NodeInfo(OriginSet::none(), {}, type)));
    values.emplace(param.get(), inner.back());
  }
  OriginSet origins = OriginSet::none();
  post_order(region->body(), [&](const Expr& node) {
    if (as<CallNode>(node)) origins = origins.merge(node->origins());
  });
  const Type type = region->body()->checked_type();
  const Function kernel = make_function(inner, substitute(region->body(), values), type, {{"Primitive", 1}},
                                        NodeInfo(origins, {}, region->checked_type()));
  const Call call =
      make_call(Expr(kernel), std::vector<Expr>(outer.begin(), outer.end()), {}, NodeInfo(origins, {}, type));
  return make_function(outer, Expr(call), type, {}, NodeInfo(region->origins(), {}, region->checked_type()));
}

IRModule run(IRModule program, const BuildContext& context, std::initializer_list<const char*> passes) {
  for (const char* pass : passes) program = (*make_pass(pass))(program, context);
  return program;
}

BuiltRegion region(const Function& function, const BuildContext& context) {
  const Function open = without_attrs(function, {"Primitive"});  // otherwise passes would not enter it
  IRModule program = make_module();
  program->set("main", as_ref<FunctionNode>(CompositeInliner().run(Expr(open))));
  program = run(std::move(program), context, {"InferType"});
  const std::string why = refusal(*program->find("main"));
  if (!why.empty()) {
    const std::string what =
        "oneDNN does not compile region `" + text_attr(*function, "global_symbol") + "`: " + why;
    if (context.passes->config.flag("baton.strict_regions", false))
      throw NotSupported(what + " (baton.strict_regions is set, so nothing else does)");
    std::fprintf(stderr,
                 "baton: warning: %s; its operators are fused as outside of regions, and each kernel is "
                 "given to oneDNN or to the processor's own code generator\n",
                 what.c_str());
    return {run(std::move(program), context, {"SimplifyInference", "FoldConstant", "FuseOps", "InferType"})};
  }
  program->set("main", as_one_kernel(program->find("main")));
  return {run(std::move(program), context, {"InferType"})};
}

KernelRef kernel_of(const BackendFunction& each, const DnnlRegion& lowered) {
  auto kernel = std::make_shared<Kernel>();
  kernel->symbol = each.func_name;
  kernel->template_name = "dnnl";
  kernel->params["primitives"] = static_cast<int>(lowered.region.steps.size());
  kernel->steps.resize(lowered.origins.size());
  int number = 0;
  for (const KernelBlock& block : kernel_blocks(*each.function)) {
    const auto own = block.call->origins().origins();
    for (size_t step = 0; step < lowered.origins.size(); ++step)
      if (std::ranges::any_of(lowered.origins[step].origins(), [&](const Origin* origin) {
            return std::ranges::find(own, origin) != own.end();
          }))
        kernel->steps[step].push_back(number);
    ++number;
    kernel->stages.push_back({block.call->op()->name});
    kernel->block_facts.push_back(cost_of_call(*block.call));
  }
  kernel->facts = cost_of_function(*each.function, kernel->block_facts);
  return kernel;
}

Built compile(std::span<const BackendFunction> functions, const DeviceSheet&, const BuildContext& context) {
  Built built;
  std::vector<DnnlRegion> regions;
  for (const BackendFunction& each : functions) {
    context.stop_if_asked();
    regions.push_back(lower_for_dnnl(*each.function, each.func_name));
    built.kernels.push_back({each.func_name, each.function, {}, kernel_of(each, regions.back())});
  }
  built.blob = dnnl_blob_of(std::move(regions), /*check_only=*/false);
  return built;
}

}  // namespace

Backend dnnl() {
  Backend record = {
      .name = "dnnl",
      .doc = "regions computed by oneDNN, on the processor",
      .takes = [](const FunctionNode& function, const DeviceSheet&) { return refusal(function); },
      .patterns = dnnl_patterns,
      .compile = compile,
      .region = region,
  };
  for (const std::string& op : dnnl_operators()) record.operators.push_back({op, dnnl_refusal});
  return record;
}

}  // namespace baton
