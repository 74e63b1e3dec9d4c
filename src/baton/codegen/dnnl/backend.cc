// The compile-time half of `dnnl`, which gives regions to oneDNN; the other half, which alone needs that
// library, is runtime/plugins/dnnl. It has no device: regions run in the memory of the host.
#include "baton/codegen/backend.h"

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

IRModule run(IRModule program, const BuildContext& context, std::initializer_list<const char*> passes) {
  for (const char* pass : passes) program = (*make_pass(pass))(program, context);
  return program;
}

BuiltRegion region(const Function& function, const BuildContext& context) {
  const Function open = without_attrs(function, {"Primitive"});  // otherwise passes would not enter it
  IRModule program = make_module();
  program->set("main", as_ref<FunctionNode>(OpenCompositeInliner().run(Expr(open))));
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

Built compile(std::span<const BackendFunction> functions, const DeviceSheet&, const BuildContext& context) {
  Built built;
  std::vector<DnnlRegion> regions;
  for (const BackendFunction& each : functions) {
    context.stop_if_asked();
    regions.push_back(lower_for_dnnl(*each.function, each.func_name));
    const int primitives = static_cast<int>(regions.back().region.steps.size());
    built.kernels.push_back(
        {each.func_name, each.function, {}, library_kernel(each, "dnnl", {{"primitives", primitives}})});
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
