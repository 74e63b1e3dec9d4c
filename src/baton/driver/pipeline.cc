#include "baton/driver/pipeline.h"

#include <algorithm>
#include <map>

#include "baton/codegen/backend.h"
#include "baton/schedule/kernel_choice.h"
#include "baton/support/error.h"
#include "baton/transform/devices/plan_devices.h"
#include "baton/transform/fuse/fuse_ops.h"
#include "baton/transform/layout/alter_op_layout.h"
#include "baton/transform/quantize/legalize.h"

namespace baton {

namespace {

bool has_several_kinds(const std::vector<TargetRef>& targets) {
  return std::ranges::any_of(targets, [&](const TargetRef& each) { return each->kind != targets[0]->kind; });
}

/// For each device what its backend prefers.
class ChoiceByDevice final : public KernelChoice {
 public:
  ConvChoice conv2d(const ConvShape& shape, const DeviceSheet& sheet) const override {
    return of(sheet)->conv2d(shape, sheet);
  }
  bool takes_blocks(const ConvShape& shape, const LayerSurroundings& around,
                    const DeviceSheet& sheet) const override {
    return of(sheet)->takes_blocks(shape, around, sheet);
  }
  ConvChoice conv_transpose(const ConvShape& shape, const DeviceSheet& sheet) const override {
    return of(sheet)->conv_transpose(shape, sheet);
  }
  bool packs_dense(const DenseShape& shape, const DeviceSheet& sheet) const override {
    return of(sheet)->packs_dense(shape, sheet);
  }
  int64_t dense_block(int64_t units, const DeviceSheet& sheet) const override {
    return of(sheet)->dense_block(units, sheet);
  }
  bool narrows_weight(const WeightUse& use, const DeviceSheet& sheet) const override {
    return of(sheet)->narrows_weight(use, sheet);
  }
  KernelSchedule schedule(const Function& function, const DeviceSheet& sheet) const override {
    return of(sheet)->schedule(function, sheet);
  }

 private:
  static std::shared_ptr<const KernelChoice> of(const DeviceSheet& sheet) {
    const BackendRef backend = backend_of_kind(sheet.kind);
    return choice_or_default(backend && backend->layouts ? backend->layouts() : nullptr);
  }
};

/// The sheets of the devices that PlanDevices, which comes later, gives to the calls. Calls that are made in
/// between are of the first target.
FindSheets sheets_by_device(const std::vector<TargetRef>& targets) {
  return [targets](const Function& function, const IRModule& module,
                   const BuildContext& context) -> SheetOfCall {
    std::vector<std::string> options;
    for (const TargetRef& target : targets) options.push_back(target->options());
    // Functions of regions are called by name; the one that is worked on takes the place of `main`.
    const IRModule whole = module->copy();
    whole->set("main", function);
    auto devices = std::make_shared<PointerMap<int>>(
        devices_of_calls(*whole, CompilationConfig::make(*context.passes, options)));
    return [devices, targets, &context](const CallNode& call) -> const DeviceSheet& {
      const int* device = devices->find(&call);
      for (const TargetRef& target : targets)
        if (const DeviceSheet* sheet = context.sheet_of(target->kind);
            device && sheet && target->device_type() == *device)
          return *sheet;
      return context.device();
    };
  };
}

// Names and order as in TVM 0.11.1; each pass has its own level.
std::vector<Pass> passes_before_layouts(const std::vector<std::string>& entries = {"main"}) {
  return {
      make_pass("RemoveUnusedFunctions", {{"entry_functions", AttrList(entries.begin(), entries.end())}}),
      make_pass("ToBasicBlockNormalForm"),
      qnn_lowering(),
      make_pass("Legalize"),
      make_pass("SimplifyInference"),
      make_pass("EliminateCommonSubexpr"),
      make_pass("CombineParallelConv2D"),
      make_pass("CombineParallelDense"),
      make_pass("CombineParallelBatchMatmul"),
      make_pass("FoldConstant"),
      make_pass("FoldScaleAxis"),
      make_pass("SimplifyExpr"),
      make_pass("CanonicalizeCast"),
      make_pass("CanonicalizeOps"),
      make_pass("FlattenAtrousConv"),
      make_pass("InferType"),
  };
}

Pass passes_with(const Pass& alter_op_layout, const std::vector<TargetRef>& targets, bool bfloat16 = false,
                 const std::vector<std::string>& entries = {"main"}) {
  AttrList options;
  for (const TargetRef& target : targets) options.push_back(target->options());
  const std::string host = targets.front()->host ? targets.front()->host->options() : "";
  std::vector<Pass> passes = passes_before_layouts(entries);
  for (const Pass& pass : {
           alter_op_layout,
           make_pass("FastMath"),
           make_pass("FoldConstant"),
           make_pass("SplitArgs"),
           make_pass("PlanDevices", {{"targets", options}, {"host", host}}),
           make_pass("FuseOps"),
       })
    passes.push_back(pass);
  // Between folding, which packs the weights, and splitting, after which they may be far from their layers.
  if (bfloat16) passes.insert(passes.end() - 3, make_pass("NarrowWeights"));
  return sequential(std::move(passes));
}

}  // namespace

std::vector<TargetRef> build_targets(const BuildContext& context) {
  std::vector<TargetRef> targets = context.targets;
  if (targets.empty()) targets.push_back(Target::parse(context.host().kind));
  // Those that stand for the same one.
  for (size_t i = 1; i < targets.size();)
    if (std::ranges::any_of(targets.begin(), targets.begin() + static_cast<std::ptrdiff_t>(i),
                            [&](const TargetRef& other) { return same_target(other, targets[i]); }))
      targets.erase(targets.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  for (const TargetRef& target : targets)
    if (!backend_of_kind(target->kind) || !context.sheet_of(target->kind))
      throw NotSupported("target " + target->options() + ": there is no backend that makes code for it");
  return targets;
}

BuildContext with_target_options(BuildContext context) {
  for (const TargetRef& target : build_targets(context)) {
    const BackendRef backend = backend_of_kind(target->kind);
    if (!backend->with_options) continue;
    for (DeviceSheet& sheet : context.sheets)
      if (sheet.kind == target->kind) sheet = backend->with_options(sheet, *target);
  }
  return context;
}

IRModule prepare_kernels(IRModule module, const BuildContext& context) {
  for (const char* name : {"InferType", "Inline", "InferType", "LabelOps", "AnnotateMemoryScope"})
    module = (*make_pass(name))(module, context);
  return module;
}

Pass optimization_passes(const std::vector<TargetRef>& targets, const PassConfig& config,
                         const std::vector<std::string>& entries) {
  const FindSheets find = has_several_kinds(targets) ? sheets_by_device(targets) : FindSheets();
  return passes_with(fast_layouts(find), targets, precision_of(config) == Precision::kBfloat16, entries);
}

namespace {

/// The context with the choice of a build for `targets`.
BuildContext with_choice(const std::vector<TargetRef>& targets, const BuildContext& context) {
  BuildContext chosen = context;
  chosen.exact_floats = true;
  const BackendRef backend = backend_of_kind(targets.front()->kind);
  if (!chosen.choice && has_several_kinds(targets)) chosen.choice = std::make_shared<const ChoiceByDevice>();
  if (!chosen.choice && backend->layouts) chosen.choice = backend->layouts();
  if (is_strict(context.passes->config)) chosen.choice = strict_choice(choice_or_default(chosen.choice));
  return chosen;
}

}  // namespace

IRModule with_layouts_of(const IRModule& module, const std::function<LayerVariant(const CallNode&)>& variant,
                         const BuildContext& context) {
  const std::vector<TargetRef> targets = build_targets(context);
  const BuildContext chosen = with_choice(targets, context);
  const bool strict = is_strict(context.passes->config);
  std::map<LayerVariant, std::shared_ptr<const KernelChoice>> choices;
  for (const LayerVariant each : kLayerVariants) {
    choices[each] = variant_choice(each, choice_or_default(chosen.choice));
    if (strict) choices[each] = strict_choice(choices[each]);
  }
  std::vector<Pass> passes = passes_before_layouts();
  const FindSheets find = has_several_kinds(targets) ? sheets_by_device(targets) : FindSheets();
  passes.push_back(fast_layouts(find, [&](const CallNode& call) -> const KernelChoice* {
    const auto at = choices.find(variant(call));
    return at == choices.end() ? nullptr : at->second.get();
  }));
  passes.push_back(make_pass("InferType"));
  IRModule result = (*sequential(std::move(passes)))(module, chosen)->copy();
  result->replace("main", with_attr(result->find("main"), kLayoutsAreChosen, int64_t{1}));
  return result;
}

namespace {

IRModule optimized(const IRModule& module, const BuildContext& context, bool exact_floats,
                   const std::vector<std::string>& entries = {"main"}) {
  const std::vector<TargetRef> targets = build_targets(context);
  BuildContext chosen = with_choice(targets, context);
  chosen.exact_floats = exact_floats;
  const Pass passes = optimization_passes(targets, context.passes->config, entries);
  IRModule fused = (*passes)(module, chosen);
  // Not among the passes of programs without cells, which are TVM's.
  if (targets.size() == 1 && backend_of_kind(targets.front()->kind)->cells && has_cells(*fused, chosen))
    fused = (*sequential({make_pass("FuseCells")}))(fused, chosen);
  return prepare_kernels(std::move(fused), chosen);
}

}  // namespace

IRModule optimize(const IRModule& module, const BuildContext& context) {
  return optimized(module, context, true);
}

IRModule optimize_program(const IRModule& module, const std::vector<std::string>& entries,
                          const BuildContext& context) {
  return optimized(module, context, true, entries);
}

IRModule optimize_with_inexact_floats(const IRModule& module, const BuildContext& context) {
  return optimized(module, context, false);
}

IRModule optimize_as_tvm(const IRModule& module, const std::string& target, const BuildContext& context) {
  BuildContext named = context;
  named.targets = {Target::parse(target)};
  return prepare_kernels((*passes_with(make_pass("AlterOpLayout"), named.targets))(module, named), named);
}

}  // namespace baton
