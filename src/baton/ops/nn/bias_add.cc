#include "baton/ir/rules/algebra.h"
#include "baton/ops/compute_util.h"
#include "baton/ops/integer_math.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/rules/scale_rules.h"

namespace baton {

struct BiasAddAttrs {
  int64_t axis = 1;  ///< negative counts from the back
};

template <>
const AttrSchema& attr_schema<BiasAddAttrs>() {
  static const AttrSchema schema = make_schema<BiasAddAttrs>(
      "relay.attrs.BiasAddAttrs",
      {{"axis", &BiasAddAttrs::axis, "the axis that the bias runs along; negative counts from the back"}});
  return schema;
}

namespace {

GradientRule bias_add_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    const Expr bias = op(
        "sum", {g}, {{"axis", AttrValue(std::vector<int64_t>{int_attr(*call, "axis")})}, {"exclude", true}});
    return Adjoints{collapse(g, call->args()[0]), bias};
  }};
}

}  // namespace

const OpDef& op_nn_bias_add() {
  static const OpDef def = OpSpec<BiasAddAttrs>{
      .name = "nn.bias_add",
      .doc = "data + bias, where the vector `bias` runs along `axis`.",
      .inputs = {{"data", "tensor"}, {"bias", "vector, as long as that axis"}},
      .fuse = Fuse::kBroadcast,
      .relation =
          [](RelationContext& ctx, const BiasAddAttrs& attrs) {
            const TensorTypeNode* data = ctx.tensor(0);
            if (!data) return kDefer;
            const auto axis = checked_axis(ctx, attrs.axis, data->rank());
            if (!axis) return kFailed;
            if (ctx.assign(1, tensor_type(std::vector<Dim>{data->shape()[*axis]}, data->dtype())) == kFailed)
              return kFailed;
            return ctx.assign_result(ctx.input(0));
          },
      .compute =
          [](Compute& c, const BiasAddAttrs& attrs) {
            const Axes i(c.in(0).rank());
            Halide::Func sum = c.stage("bias_add");
            sum(i.reversed()) =
                wrapping_sum(c.in(0)(i.exprs()), c.in(1)(Index{i[static_cast<int>(attrs.axis)]}));
            c.result(sum);
          },
      .rules = op_rules(bias_scale_rule(), bias_add_gradient(), MixedPrecision::kFollow,
                        FakeQuantizationRule{fake_quantized_bias_add}, NotBroadcast{}, AlongAxis{"add"}),
      .test_shapes = {"(2, 3)f32, (3)f32", "(2, 4, 4, 3)f32, (3)f32, axis=3", "(2, 3, 0)f32, (3)f32"},
  };
  return def;
}

}  // namespace baton
