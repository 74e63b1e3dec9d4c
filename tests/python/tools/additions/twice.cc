// An operator: src/baton/ops/tensor/twice.cc and BATON_OP(op_twice).
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/shared/elementwise.h"

namespace baton {

const OpDef& op_twice() {
  static const OpDef def = OpSpec<>{
      .name = "twice",
      .doc = "Two times x.",
      .inputs = {{"x", "tensor"}},
      .fuse = Fuse::kElementwise,
      .relation = [](RelationContext& ctx, const NoAttrs&) { return identity_relation(ctx); },
      .compute = [](Compute& c, const NoAttrs&) { map_compute(c, "twice", [](Halide::Expr x) { return x + x; }); },
      .python = "tensor",
      .rules = op_rules(AnchorRule{"doubling"}, MixedPrecision::kFollow, same_layout_flow()),
      .test_shapes = {"(3, 5)f32", "(7)i32"},
  };
  return def;
}

}  // namespace baton
