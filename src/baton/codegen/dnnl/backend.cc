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

const Plugin& plugin() {
  const auto found = Plugin::find("dnnl");
  if (!found.ok()) throw NotSupported("regions for dnnl need oneDNN: " + found.status().message);
  return **found;
}

/// Why oneDNN does not make the primitives of a region; empty when it does.
std::string refusal_of(DnnlRegion region) {
  std::vector<DnnlRegion> regions;
  regions.push_back(std::move(region));
  const std::string blob = dnnl_blob_of(std::move(regions), /*check_only=*/true);
  const auto module =
      PluginModule::load(plugin(), {reinterpret_cast<const uint8_t*>(blob.data()), blob.size()});
  return module.ok() ? "" : module.status().message;
}

/// Why oneDNN has no primitives for the function; empty when it has.
std::string refusal(const FunctionNode& function) {
  DnnlRegion region;
  try {
    region = lower_for_dnnl(function, "region");
  } catch (const NotSupported& error) {
    return error.what();
  }
  return refusal_of(std::move(region));
}

/// The same for one call. Products of bytes are tried, where there is a plug-in to do so: whether their sums
/// are exact depends on the processor, and on the implementation that oneDNN has for these extents.
std::string refusal_of_operator(const CallNode& call) {
  try {
    DnnlRegion region = lower_call_for_dnnl(call);
    const bool adds_bytes = std::ranges::any_of(
        region.region.steps, [](const dnnl_blob::Step& step) { return step.largest != 0; });
    if (!adds_bytes || !Plugin::find("dnnl").ok()) return "";
    const std::string why = refusal_of(std::move(region));
    return why.empty() ? "" : "`" + call.op()->name + "`: " + why;
  } catch (const NotSupported& error) {
    return error.what();
  }
}

IRModule run(IRModule program, const BuildContext& context, std::initializer_list<const char*> passes) {
  for (const char* pass : passes) program = (*make_pass(pass))(program, context);
  return program;
}

/// Whether oneDNN adds products of bytes in 32 bits on this processor: a small convolution is tried, once.
/// Without a plug-in the processor that will run the program decides.
bool adds_bytes_in_32_bits() {
  static const bool does = [] {
    using namespace dnnl_blob;
    if (!Plugin::find("dnnl").ok()) return true;
    const auto tensor = [](TensorKind kind, const Dims& dims, const Dims& strides, ElementType type) {
      return TensorInfo{kind, dims, strides, 0, 0, type};
    };
    const Dims data = {1, 16, 4, 4}, strides = {256, 16, 4, 1}, weight = {16, 16, 1, 1},
               along = {16, 1, 1, 1};
    DnnlRegion region;
    region.region = {"region",
                     {tensor(TensorKind::kInput, data, strides, ElementType::kUint8),
                      tensor(TensorKind::kConstant, weight, along, ElementType::kInt8),
                      tensor(TensorKind::kConstant, {1}, {1}, ElementType::kFloat32),
                      tensor(TensorKind::kOutput, data, strides, ElementType::kUint8)},
                     {}};
    Step step{
        .kind = StepKind::kConvolution, .inputs = {{0, data, strides}, {1, weight, along}}, .output = 3};
    step.strides = {1, 1};
    step.dilates = step.before = step.after = {0, 0};
    step.scales = {{2, {1}, {1}}};
    region.region.steps = {step};
    return refusal_of(std::move(region)).empty();
  }();
  return does;
}

/// The composites; quantised layers match where oneDNN computes them.
PatternTable patterns() {
  PatternTable table = dnnl_patterns();
  for (CompositePattern& each : table)
    if (each.name.starts_with("dnnl.qnn."))
      each.check = [check = each.check](const Expr& root) { return adds_bytes_in_32_bits() && check(root); };
  return table;
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
    return {run(std::move(program), context,
                {"qnn.CanonicalizeOps", "SimplifyInference", "FoldConstant", "FuseOps", "InferType"}),
            what};
  }
  program->set("main", as_one_kernel(program->find("main")));
  return {run(std::move(program), context, {"InferType"})};
}

/// The kernel of a region, with the blocks that each of its steps computes.
KernelRef kernel_of(const BackendFunction& each, const DnnlRegion& lowered) {
  const int primitives = static_cast<int>(lowered.region.steps.size());
  auto kernel = std::make_shared<Kernel>(*library_kernel(each, "dnnl", {{"primitives", primitives}}));
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
  }
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
      .patterns = patterns,
      .compile = compile,
      .region = region,
  };
  for (const std::string& op : dnnl_operators()) record.operators.push_back({op, refusal_of_operator});
  return record;
}

}  // namespace baton
