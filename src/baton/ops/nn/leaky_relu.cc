#include "baton/ops/nn/leaky_relu_attrs.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/scale_rules.h"
#include "baton/ops/shared/elementwise.h"

namespace baton {

template <>
const AttrSchema& attr_schema<LeakyReluAttrs>() {
  static const AttrSchema schema = make_schema<LeakyReluAttrs>(
      "relay.attrs.LeakyReluAttrs", {{"alpha", &LeakyReluAttrs::alpha, "the slope for negative values"}});
  return schema;
}

const OpDef& op_nn_leaky_relu() {
  static const OpDef def = OpSpec<LeakyReluAttrs>{
      .name = "nn.leaky_relu",
      .doc = "x where x > 0, else alpha * x.",
      .inputs = {{"data", "float tensor"}},
      .fuse = Fuse::kElementwise,
      .relation = [](RelationContext& ctx, const LeakyReluAttrs&) { return identity_relation(ctx); },
      .compute =
          [](Compute& c, const LeakyReluAttrs& attrs) {
            const Halide::Expr alpha = constant_of(c.in(0).dtype(), attrs.alpha);
            map_compute(c, "leaky_relu",
                        [&](Halide::Expr x) { return select(x > cast(x.type(), 0), x, x * alpha); });
          },
      .python = "nn.leaky_relu(data, alpha=0.01)",
      .rules = op_rules(positive_scale_rule(), MixedPrecision::kFollow,
                        fake_quantized_function("qnn.leaky_relu"), same_layout_flow()),
      .test_shapes = {"(3, 4)f32[-2, 2], alpha=0.1"},
  };
  return def;
}

}  // namespace baton
