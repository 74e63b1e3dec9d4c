#include "baton/ops/compute_util.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/gradient_rules.h"
#include "baton/ops/tensor/tensor_attrs.h"

namespace baton {

namespace {

RelationStatus take_relation(RelationContext& ctx, const TakeAttrs& attrs) {
  const TensorTypeNode *data = ctx.tensor(0), *indices = ctx.tensor(1);
  if (!data || !indices) return kDefer;
  if (!indices->dtype().is_int() && !indices->dtype().is_uint())
    return fail_arg(ctx, 1, "indices must be integers, got " + type_text(ctx.input(1)));
  if (attrs.mode != "clip" && attrs.mode != "wrap" && attrs.mode != "fast")
    return fail_attr(ctx, "mode", "\"" + attrs.mode + "\"", "it must be \"clip\", \"wrap\" or \"fast\"");
  if (!attrs.axis) return ctx.assign_result(tensor_type(indices->shape(), data->dtype()));
  const auto axis = checked_axis(ctx, *attrs.axis, data->rank());
  if (!axis) return kFailed;
  const int64_t batch = attrs.batch_dims < 0 ? attrs.batch_dims + indices->rank() : attrs.batch_dims;
  if (batch < 0 || batch > indices->rank() || batch > *axis)
    return fail_attr(ctx, "batch_dims", std::to_string(attrs.batch_dims),
                     "it must not exceed the axis, nor the rank of the indices");
  std::vector<Dim> shape(data->shape().begin(), data->shape().begin() + *axis);
  shape.insert(shape.end(), indices->shape().begin() + batch, indices->shape().end());
  shape.insert(shape.end(), data->shape().begin() + *axis + 1, data->shape().end());
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

Halide::Expr in_range(const Halide::Expr& index, const std::string& mode, int64_t extent) {
  const Halide::Expr at = cast<int>(index);
  // Clamped also where indices are promised to be good: kernels never read outside.
  if (mode == "wrap") return at % as_int(extent);
  return clamp(at, 0, as_int(extent - 1));
}

void take_compute(Compute& c, const TakeAttrs& attrs) {
  const Tensor &data = c.in(0), &indices = c.in(1);
  const Axes i(c.out().rank());
  Halide::Func taken = c.stage("take");
  if (!attrs.axis) {
    int64_t size = 1;
    for (const int64_t extent : data.shape()) size *= extent;
    Halide::Expr flat = in_range(indices(i.exprs()), attrs.mode, size);
    Index at(data.rank());
    for (int axis = data.rank(); axis-- > 0; flat = flat / as_int(data.extent(axis)))
      at[axis] = flat % as_int(data.extent(axis));
    taken(i.reversed()) = data(at);
  } else {
    const int axis = static_cast<int>(*attrs.axis < 0 ? *attrs.axis + data.rank() : *attrs.axis);
    const int batch =
        static_cast<int>(attrs.batch_dims < 0 ? attrs.batch_dims + indices.rank() : attrs.batch_dims);
    const Index to = i.exprs();
    // to = data[:axis], indices[batch:], data[axis + 1:]
    const int after = axis + indices.rank() - batch;
    Index which(to.begin(), to.begin() + batch), at(to.begin(), to.begin() + axis);
    which.insert(which.end(), to.begin() + axis, to.begin() + after);
    at.push_back(in_range(indices(which), attrs.mode, data.extent(axis)));
    at.insert(at.end(), to.begin() + after, to.end());
    taken(i.reversed()) = data(at);
  }
  c.result(taken);
}

}  // namespace

const OpDef& op_take() {
  static const OpDef def = OpSpec<TakeAttrs>{
      .name = "take",
      .doc = "The slices of data that the indices name along one axis.",
      .inputs = {{"data", "tensor"}, {"indices", "tensor of integers"}},
      .fuse = Fuse::kInjective,
      .relation = take_relation,
      .compute = take_compute,
      .python = "transform.take(data, indices, axis=None, batch_dims=0, mode='clip')",
      .rules = op_rules(take_gradient(), MixedPrecision::kFollow),
      .test_shapes = {"(5, 4)f32, (6)i32[0, 3]", "(4, 2)f32, (3)i64{-3, 0, 7}, axis=0, mode=wrap"},
  };
  return def;
}

}  // namespace baton
