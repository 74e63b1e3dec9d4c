#include "baton/ir/build.h"
#include "baton/ir/rules/algebra.h"
#include "baton/ops/compute_util.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/tensor/tensor_attrs.h"

namespace baton {

namespace {

RelationStatus broadcast_to_shape(RelationContext& ctx, const std::vector<Dim>& shape) {
  const TensorTypeNode& data = *ctx.tensor(0);
  const auto both = broadcast_shapes(data.shape(), shape);
  const bool fits = both && both->size() == shape.size();
  if (!fits)
    return fail_arg(ctx, 0, type_text(ctx.input(0)) + " cannot be broadcast to " + shape_text(shape));
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (!shape[axis].is_any() && (*both)[axis] != shape[axis])
      return fail_arg(ctx, 0, type_text(ctx.input(0)) + " cannot be broadcast to " + shape_text(shape));
  return ctx.assign_result(tensor_type(shape, data.dtype()));
}

void broadcast_compute(Compute& c, const char* stage) {
  const Axes i(c.out().rank());
  Halide::Func spread = c.stage(stage);
  spread(i.reversed()) = broadcast_at(c.in(0), i.exprs());
  c.result(spread);
}

GradientRule where_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    const Expr &condition = call->args()[0], &x = call->args()[1], &y = call->args()[2];
    const Expr zero = zeros_like(g);
    return Adjoints{zeros_like(condition), collapse(op("where", {condition, g, zero}), x),
                    collapse(op("where", {condition, zero, g}), y)};
  }};
}

Expr broadcast_to_type(const CallNode& call, const TensorTypeNode& type) {
  return call_op("broadcast_to", {call.args()[0]}, {{"shape", type.extents()}});
}

}  // namespace

const OpDef& op_broadcast_to() {
  static const OpDef def = OpSpec<InitOpAttrs>{
      .name = "broadcast_to",
      .doc = "Repeated along axes of extent 1 until it has the given shape.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kBroadcast,
      .relation =
          [](RelationContext& ctx, const InitOpAttrs& attrs) {
            if (!attrs.shape) return fail_attr(ctx, "shape", "None", "a list of extents is needed");
            if (!check_least(ctx, "shape", *attrs.shape, 0)) return kFailed;
            return ctx.tensor(0)
                       ? broadcast_to_shape(ctx, std::vector<Dim>(attrs.shape->begin(), attrs.shape->end()))
                       : kDefer;
          },
      .compute = [](Compute& c, const InitOpAttrs&) { broadcast_compute(c, "broadcast_to"); },
      .rules = op_rules(FakeQuantizationRule{fake_quantized_same}),
      .test_shapes = {"(3)f32, shape=[2, 3]"},
  };
  return def;
}

const OpDef& op_broadcast_to_like() {
  static const OpDef def = OpSpec<>{
      .name = "broadcast_to_like",
      .doc = "Repeated along axes of extent 1 until it has the shape of another tensor.",
      .inputs = {{"data", "tensor"}, {"broadcast_type", "tensor; only its shape counts"}},
      .fuse = Fuse::kBroadcast,
      .relation =
          [](RelationContext& ctx, const NoAttrs&) {
            const TensorTypeNode* like = ctx.tensor(1);
            return ctx.tensor(0) && like ? broadcast_to_shape(ctx, like->shape()) : kDefer;
          },
      .compute = [](Compute& c, const NoAttrs&) { broadcast_compute(c, "broadcast_to_like"); },
      .python = "transform",
      .rules = op_rules(MixedPrecision::kFollow, LikeRule{1, broadcast_to_type}, NotBroadcast{}),
      .test_shapes = {"(2, 1)f32, (2, 5)f32"},
  };
  return def;
}

const OpDef& op_where() {
  static const OpDef def = OpSpec<>{
      .name = "where",
      .doc = "x where the condition holds (is not zero), else y; all three broadcast.",
      .inputs = {{"condition", "tensor of bool or numbers"}, {"x", "tensor"}, {"y", "tensor"}},
      .fuse = Fuse::kBroadcast,
      .relation =
          [](RelationContext& ctx, const NoAttrs&) {
            const TensorTypeNode *condition = ctx.tensor(0), *x = ctx.tensor(1), *y = ctx.tensor(2);
            if (!condition || !x || !y) return kDefer;
            if (x->dtype() != y->dtype())
              return fail_arg(
                  ctx, 2,
                  "x and y must have one element type, got " + x->dtype().str() + " and " + y->dtype().str());
            const auto both = broadcast_shapes(x->shape(), y->shape());
            if (!both)
              return fail_arg(
                  ctx, 2, "cannot broadcast " + type_text(ctx.input(1)) + " with " + type_text(ctx.input(2)));
            const auto all = broadcast_shapes(condition->shape(), *both);
            if (!all)
              return fail_arg(
                  ctx, 0, "cannot broadcast " + type_text(ctx.input(0)) + " with shape " + shape_text(*both));
            return ctx.assign_result(tensor_type(*all, x->dtype()));
          },
      .compute =
          [](Compute& c, const NoAttrs&) {
            const Axes i(c.out().rank());
            const Halide::Expr condition = broadcast_at(c.in(0), i.exprs());
            Halide::Func chosen = c.stage("where");
            chosen(i.reversed()) = select(condition != cast(condition.type(), 0),
                                          broadcast_at(c.in(1), i.exprs()), broadcast_at(c.in(2), i.exprs()));
            c.result(chosen);
          },
      .python = "transform",
      .rules = op_rules(where_gradient(), MixedPrecision::kFollow),
      .test_shapes = {"(2, 1)i32[0, 2], (2, 3)f32, (3)f32", "(3, 4)bool, (3, 4)f32, (3, 4)f32"},
  };
  return def;
}

}  // namespace baton
