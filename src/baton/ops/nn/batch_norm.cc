#include "baton/ir/build.h"
#include "baton/ir/rules/inference_rule.h"
#include "baton/ir/rules/layout_flow_rules.h"
#include "baton/ops/compute_util.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"

namespace baton {

struct BatchNormAttrs {
  int64_t axis = 1;  ///< the axis of the channels
  double epsilon = 1e-5;
  bool center = true;  ///< add beta
  bool scale = true;   ///< multiply by gamma
};

template <>
const AttrSchema& attr_schema<BatchNormAttrs>() {
  using A = BatchNormAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.BatchNormAttrs",
                     {{"axis", &A::axis, "the axis of the channels; negative counts from the back"},
                      {"epsilon", &A::epsilon, "added to the variance"},
                      {"center", &A::center, "whether beta is added"},
                      {"scale", &A::scale, "whether to multiply by gamma"}});
  return schema;
}

namespace {

// batch_norm(x, gamma, beta, mean, var).0  ->  x * scale + shift
// where scale = gamma / sqrt(var + epsilon), shift = beta - mean * scale
Expr batch_norm_at_inference(const CallNode& norm, const TensorTypeNode& data) {
  const int axis = front_axis(int_attr(norm, "axis"), data.rank());
  const Expr &x = norm.args()[0], &gamma = norm.args()[1], &beta = norm.args()[2], &mean = norm.args()[3],
             &variance = norm.args()[4];
  const Expr shifted = call_op("add", {variance, scalar(float_attr(norm, "epsilon"), data.dtype())});
  Expr scale = call_op("divide", {scalar(1, data.dtype()), call_op("sqrt", {shifted})});
  if (bool_attr(norm, "scale")) scale = call_op("multiply", {scale, gamma});
  Expr shift = call_op("multiply", {call_op("negative", {mean}), scale});
  if (bool_attr(norm, "center")) shift = call_op("add", {shift, beta});
  return call_op("add", {call_op("multiply", {x, expand_to_axis(scale, data.rank(), axis)}),
                         expand_to_axis(shift, data.rank(), axis)});
}

}  // namespace

const OpDef& op_nn_batch_norm() {
  static const OpDef def = OpSpec<BatchNormAttrs>{
      .name = "nn.batch_norm",
      .doc =
          "(data - moving_mean) / sqrt(moving_var + epsilon) * gamma + beta, by channel; the result is a "
          "tuple of that, "
          "moving_mean and moving_var.",
      .inputs = {{"data", "tensor"},
                 {"gamma", "vector of the channels"},
                 {"beta", "vector of the channels"},
                 {"moving_mean", "vector of the channels"},
                 {"moving_var", "vector of the channels"}},
      .fuse = Fuse::kOutFusable,
      .relation =
          [](RelationContext& ctx, const BatchNormAttrs& attrs) {
            const TensorTypeNode* data = ctx.tensor(0);
            if (!data) return kDefer;
            const auto axis = checked_axis(ctx, attrs.axis, data->rank());
            if (!axis) return kFailed;
            const Type vector = tensor_type(std::vector<Dim>{data->shape()[*axis]}, data->dtype());
            for (size_t i = 1; i < 5; ++i)
              if (ctx.assign(i, vector) == kFailed) return kFailed;
            return ctx.assign_result(tuple_type({ctx.input(0), vector, vector}));
          },
      .compute =
          [](Compute& c, const BatchNormAttrs& attrs) {
            const Axes i(c.in(0).rank());
            const DType dtype = c.in(0).dtype();
            const Index channel{i[static_cast<int>(attrs.axis)]};
            const Halide::Expr deviation = sqrt(c.in(4)(channel) + constant_of(dtype, attrs.epsilon));
            Halide::Expr value = (c.in(0)(i.exprs()) - c.in(3)(channel)) / deviation;
            if (attrs.scale) value = value * c.in(1)(channel);
            if (attrs.center) value = value + c.in(2)(channel);
            Halide::Func norm = c.stage("batch_norm"), mean = c.stage("mean"), variance = c.stage("var");
            const Axes j(1);
            norm(i.reversed()) = cast_to(dtype, value);
            mean(j.reversed()) = c.in(3)(j.exprs());
            variance(j.reversed()) = c.in(4)(j.exprs());
            c.results({norm, mean, variance});
          },
      .rules = op_rules(axis_layout_flow(), MixedPrecision::kFollow, ResultCount{3},
                        InferenceRule{batch_norm_at_inference, InferenceRule::Replaces::kFirstOfTuple}),
      .test_shapes = {"(2, 3, 4, 4)f32, (3)f32[0.5, 1.5], (3)f32, (3)f32, (3)f32[0.5, 1.5], epsilon=0.001",
                      "(2, 5)f32, (5)f32, (5)f32, (5)f32, (5)f32[0.5, 1.5], center=False"},
  };
  return def;
}

}  // namespace baton
