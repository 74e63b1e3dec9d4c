#include "baton/ir/rules/quantization_rule.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/shared/elementwise.h"

namespace baton {

const OpDef& op_annotation_stop_fusion() {
  static const OpDef def = OpSpec<>{
      .name = "annotation.stop_fusion",
      .doc = "The data; nothing before it is fused with what comes after.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kOpaque,
      .relation = [](RelationContext& ctx, const NoAttrs&) { return identity_relation(ctx); },
      .compute = [](Compute& c,
                    const NoAttrs&) { map_compute(c, "stop_fusion", [](Halide::Expr x) { return x; }); },
      .rules = op_rules(same_layout_flow(), QuantizationRule{QuantizationRule::Does::kSame}),
      .test_shapes = {"(2, 3)f32"},
  };
  return def;
}

}  // namespace baton
