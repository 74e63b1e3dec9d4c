#include "baton/driver/pipeline.h"

#include "baton/target/current_target.h"
#include "baton/transform/layout/alter_op_layout.h"
#include "baton/transform/quantize/legalize.h"

namespace baton {

namespace {

// Names and order as in TVM 0.11.1; each pass brings its level.
Pass passes_with(const Pass& alter_op_layout, const Target& target) {
  return sequential({
      make_pass("RemoveUnusedFunctions"),
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
      alter_op_layout,
      make_pass("FastMath"),
      make_pass("FoldConstant"),
      make_pass("SplitArgs"),
      make_pass("PlanDevices", {{"targets", AttrList{target.options()}}}),
      make_pass("FuseOps"),
  });
}

}  // namespace

IRModule prepare_kernels(IRModule module) {
  for (const char* name : {"InferType", "Inline", "InferType", "LabelOps", "AnnotateMemoryScope"})
    module = (*make_pass(name))(module);
  return module;
}

Pass optimization_passes(const DeviceSheet& sheet) {
  return passes_with(alter_op_layout_for(sheet), *Target::parse("llvm"));
}

IRModule optimize(const IRModule& module, const DeviceSheet& sheet) {
  return prepare_kernels((*optimization_passes(sheet))(module));
}

IRModule optimize_as_tvm(const IRModule& module, const std::string& target) {
  const TargetRef parsed = Target::parse(target);
  const TargetScope scope(parsed);
  return prepare_kernels((*passes_with(make_pass("AlterOpLayout"), *parsed))(module));
}

}  // namespace baton
