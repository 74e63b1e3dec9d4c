#include "baton/ir/rules/quantization_rule.h"
#include "baton/ops/compute_util.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/rules/scale_rules.h"

namespace baton {

namespace {

GradientRule relu_gradient() {
  using namespace gradients;
  return unary([](const Expr& x, const Expr&, const Expr& g) {
    const Expr zero = zeros_like(x), one = ones_like(x);
    return op("where", {op("less", {x, zero}), zero, mul(one, g)});
  });
}

}  // namespace

const OpDef& op_nn_relu() {
  static const OpDef def = OpSpec<>{
      .name = "nn.relu",
      .doc = "max(x, 0), element by element.",
      .inputs = {{"data", "tensor of numbers"}},
      .fuse = Fuse::kElementwise,
      .relation = [](RelationContext& ctx, const NoAttrs&) { return ctx.assign_result(ctx.input(0)); },
      .compute =
          [](Compute& c, const NoAttrs&) {
            const Axes i(c.in(0).rank());
            Halide::Func relu = c.stage("relu");
            relu(i.reversed()) = ieee_maximum(c.in(0)(i.exprs()), constant_of(c.in(0).dtype(), 0));
            c.result(relu);
          },
      .rules = op_rules(positive_scale_rule(), relu_gradient(), MixedPrecision::kFollow,
                        FakeQuantizationRule{fake_quantized_relu}, same_layout_flow(),
                        QuantizationRule{QuantizationRule::Does::kSame, QuantizationRule::Kernel::kJoins}),
      .test_shapes = {"(3, 5)f32", "(2, 3)i8[-9, 9]", "(2, 0, 3)f32", "()f32"},
  };
  return def;
}

}  // namespace baton
