#include "baton/driver/pipeline.h"

#include "baton/transform/alter_op_layout.h"
#include "baton/transform/legalize.h"

namespace baton {

// Names and order as in TVM 0.11.1; each pass brings its level. Passes over devices come with the first second device.
Pass optimization_passes(const Machine& machine) {
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
      alter_op_layout_for(machine),
      make_pass("FastMath"),
      make_pass("FoldConstant"),
      make_pass("SplitArgs"),
      make_pass("FuseOps"),
  });
}

IRModule optimize(const IRModule& module, const Machine& machine) {
  IRModule result = (*optimization_passes(machine))(module);
  for (const char* name : {"InferType", "Inline", "InferType", "LabelOps"}) result = (*make_pass(name))(result);
  return result;
}

}  // namespace baton
