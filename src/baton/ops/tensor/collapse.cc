// Sums to a shape.
#include "baton/ir/build.h"
#include "baton/ir/rules/algebra.h"
#include "baton/ops/domain.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/tensor/tensor_attrs.h"
#include "baton/ops/tensor/tensor_relations.h"

namespace baton {

namespace {

// The result has the shape of input 1, to which the data is summed.
RelationStatus collapse_sum_like_relation(RelationContext& ctx, const NoAttrs&) {
  const TensorTypeNode *data = ctx.tensor(0), *like = ctx.tensor(1);
  if (!data || !like) return kDefer;
  const auto both = broadcast_shapes(data->shape(), like->shape());
  if (!both || both->size() != data->shape().size())
    return fail_arg(ctx, 1, type_text(ctx.input(1)) + " cannot be broadcast to " + type_text(ctx.input(0)));
  return ctx.assign_result(ctx.input(1));
}

RelationStatus collapse_sum_to_relation(RelationContext& ctx, const InitOpAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  std::vector<Dim> shape;
  if (attrs.shape) {
    if (!check_least(ctx, "shape", *attrs.shape, 0)) return kFailed;
    shape.assign(attrs.shape->begin(), attrs.shape->end());
  } else {
    RelationStatus status = kDone;
    const auto any = any_shape(ctx, 1, &status);
    if (!any) return status;
    shape = *any;
  }
  const auto both = broadcast_shapes(data->shape(), shape);
  if (!both || both->size() != data->shape().size())
    return fail_attr(ctx, "shape", shape_text(shape), "it cannot be broadcast to " + type_text(ctx.input(0)));
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

// Axes that the result lacks, or has with extent 1, are summed over.
void collapse_compute(Compute& c) {
  const Tensor& data = c.in(0);
  const std::vector<Dim>& out = c.out().shape();
  const Axes i(c.out().rank());
  const int more = data.rank() - i.rank();
  std::vector<Dim> extents;
  for (int k = 0; k < data.rank(); ++k)
    if (k < more || out[k - more] != data.dim(k)) extents.push_back(data.dim(k));
  const Domain r(extents);
  Index at;
  for (int k = 0, next = 0; k < data.rank(); ++k) {
    if (k < more || out[k - more] != data.dim(k))
      at.push_back(r[next++]);
    else
      at.push_back(i[k - more]);
  }
  const Halide::Type type = sum_type(c.out().dtype());
  Halide::Func sum = c.stage("sum"), result = c.stage("collapse_sum");
  sum(i.reversed()) = cast(type, 0);
  sum(i.reversed()) += cast(type, data(at));
  result(i.reversed()) = cast_to(c.out().dtype(), sum(i.reversed()));
  c.result(result);
}

GradientRule collapse_sum_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    return with_zeros(call, op("broadcast_to_like", {g, call->args()[0]}));
  }};
}

// collapse_sum_to has its shape as an argument, and as an attribute where it is known.
Expr collapse_to_type(const CallNode& call, const TensorTypeNode& type) {
  const std::vector<int64_t> extents = type.extents();
  NDArray shape = NDArray::empty({static_cast<int64_t>(extents.size())}, DType::int_(32));
  for (size_t i = 0; i < extents.size(); ++i) shape.as<int32_t>()[i] = static_cast<int32_t>(extents[i]);
  return call_op("collapse_sum_to", {call.args()[0], constant(std::move(shape))}, {{"shape", extents}});
}

}  // namespace

const OpDef& op_collapse_sum_like() {
  static const OpDef def = OpSpec<NoAttrs>{
      .name = "collapse_sum_like",
      .doc = "The data summed to the shape of another tensor: what broadcasting undoes.",
      .inputs = {{"data", "tensor"}, {"collapse_type", "tensor that gives the shape"}},
      .fuse = Fuse::kCommReduce,
      .relation = collapse_sum_like_relation,
      .compute = [](Compute& c, const NoAttrs&) { collapse_compute(c); },
      .python = "transform",
      .rules = op_rules(collapse_sum_gradient(), LikeRule{1, collapse_to_type}),
      .test_shapes = {"(2, 3)f32, (1, 3)f32"},
  };
  return def;
}

const OpDef& op_collapse_sum_to() {
  static const OpDef def = OpSpec<InitOpAttrs>{
      .name = "collapse_sum_to",
      .doc = "The data summed to a shape that can be broadcast to its own.",
      .inputs = {{"data", "tensor"}, {"shape", "vector of extents"}},
      .fuse = Fuse::kCommReduce,
      .relation = collapse_sum_to_relation,
      .compute = [](Compute& c, const InitOpAttrs&) { collapse_compute(c); },
      .declares_attrs = false,
      .rules = op_rules(collapse_sum_gradient()),
      .test_shapes = {"(2, 3)f32, (1)i64={3}, shape=[3]", "(2, 3, 4)f32, (3)i64={2, 1, 4}, shape=[2, 1, 4]"},
  };
  return def;
}

}  // namespace baton
