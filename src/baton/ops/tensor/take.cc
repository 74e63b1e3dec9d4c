#include "baton/ops/compute_util.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/gradient_build.h"

namespace baton {

struct TakeAttrs {
  int64_t batch_dims = 0;
  std::optional<int64_t> axis = {};  ///< None: data is flattened
  std::string mode = "clip";         ///< "clip", "wrap" or "fast" (indices are known to be good)
};

template <>
const AttrSchema& attr_schema<TakeAttrs>() {
  using A = TakeAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.TakeAttrs", {{"batch_dims", &A::batch_dims, "leading axes that data and indices share"},
                                {"axis", &A::axis, "the axis that is indexed; None: the flattened data"},
                                {"mode", &A::mode,
                                 "what becomes of an index out of range: \"clip\" goes to the border, "
                                 "\"wrap\" counts around, \"fast\" means there is none"}});
  return schema;
}

namespace {

RelationStatus take_relation(RelationContext& ctx, const TakeAttrs& attrs) {
  const TensorTypeNode *data = ctx.tensor(0), *indices = ctx.tensor(1);
  if (!data || !indices) return kDefer;
  if (!check_integers(ctx, *indices, 1)) return kFailed;
  if (attrs.mode != "clip" && attrs.mode != "wrap" && attrs.mode != "fast")
    return fail_attr(ctx, "mode", "\"" + attrs.mode + "\"", "it must be \"clip\", \"wrap\" or \"fast\"");
  if (!attrs.axis) return ctx.assign_result(tensor_type(indices->shape(), data->dtype()));
  const auto axis = checked_axis(ctx, *attrs.axis, data->rank());
  if (!axis) return kFailed;
  const int64_t batch = attrs.batch_dims < 0 ? attrs.batch_dims + indices->rank() : attrs.batch_dims;
  if (batch < 0 || batch > indices->rank() || batch > *axis)
    return fail_attr(ctx, "batch_dims", std::to_string(attrs.batch_dims),
                     "it must not exceed the axis, nor the rank of the indices");
  for (int k = 0; k < batch; ++k)
    if (!check_extent(ctx, *indices, k, data->shape()[k], 1, "a batch axis of the data")) return kFailed;
  std::vector<Dim> shape(data->shape().begin(), data->shape().begin() + *axis);
  shape.insert(shape.end(), indices->shape().begin() + batch, indices->shape().end());
  shape.insert(shape.end(), data->shape().begin() + *axis + 1, data->shape().end());
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

Halide::Expr in_range(const Halide::Expr& index, const std::string& mode, Dim extent) {
  const Halide::Expr at = cast<int>(index);
  // Clamped even for indices promised to be valid: kernels never read out of bounds.
  if (mode == "wrap") return at % as_expr(extent);
  return clamp(at, 0, as_expr(extent - 1));
}

void take_compute(Compute& c, const TakeAttrs& attrs) {
  const Tensor &data = c.in(0), &indices = c.in(1);
  const Axes i(c.out().rank());
  Halide::Func taken = c.stage("take");
  if (!attrs.axis) {
    Dim size = 1;
    for (const Dim& extent : data.dims()) size = size * extent, c.needs_elements(extent);
    Halide::Expr flat = in_range(indices(i.exprs()), attrs.mode, size);
    Index at(data.rank());
    for (int axis = data.rank(); axis-- > 0; flat = flat / data.size(axis)) at[axis] = flat % data.size(axis);
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
    at.push_back(in_range(indices(which), attrs.mode, data.dim(axis)));
    c.needs_elements(data.dim(axis));
    at.insert(at.end(), to.begin() + after, to.end());
    taken(i.reversed()) = data(at);
  }
  c.result(taken);
}

bool takes_one(const CallNode& call) {
  const TensorTypeNode* indices = tensor_type_of(call.args()[1]);
  return indices && indices->rank() == 0;
}

std::vector<int64_t> axes_but(size_t rank, int64_t last) {
  std::vector<int64_t> axes;
  for (size_t axis = 0; axis < rank; ++axis)
    if (static_cast<int64_t>(axis) != last) axes.push_back(static_cast<int64_t>(axis));
  return axes;
}

// out[..., n, ...] = data[..., indices[n], ...], so data's adjoint gets g[..., n, ...] added at indices[n]:
// with the axis in front that is a scatter.
GradientRule take_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    const Expr &data = call->args()[0], &indices = call->args()[1];
    if (int_attr(*call, "batch_dims") != 0) refuse(*call, "with batch_dims is not provided yet");
    if (text_attr(*call, "mode") == "wrap") refuse(*call, "with mode=\"wrap\" is not provided yet");
    std::vector<int64_t> shape = static_arg(*call, 0);
    const auto names = static_cast<size_t>(tensor_arg(*call, 1).rank());
    int64_t axis = 0;
    Expr zeros = zeros_like(data), updates = g;
    const bool flat = call->attrs() && call->attrs()->get("axis").is_none();
    if (flat) {
      shape = {std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>())};
      zeros = op("reshape", {zeros}, {{"newshape", AttrValue(shape)}});
    } else {
      axis = front_axis(int_attr(*call, "axis"), static_cast<int>(shape.size()));
    }
    const auto reorder = [](const Expr& value, const std::vector<int64_t>& axes) {
      return std::is_sorted(axes.begin(), axes.end()) ? value
                                                      : op("transpose", {value}, {{"axes", AttrValue(axes)}});
    };
    // The axes of the indices, and the one taken from, come first.
    const size_t rank = shape.size() - 1 + names;
    std::vector<int64_t> to_front, data_front{axis}, back(shape.size());
    for (size_t i = 0; i < names; ++i) to_front.push_back(axis + static_cast<int64_t>(i));
    for (size_t i = 0; i < rank; ++i)
      if (static_cast<int64_t>(i) < axis || static_cast<int64_t>(i) >= axis + static_cast<int64_t>(names))
        to_front.push_back(static_cast<int64_t>(i));
    for (const int64_t other : axes_but(shape.size(), axis)) data_front.push_back(other);
    for (size_t i = 0; i < data_front.size(); ++i) back[data_front[i]] = static_cast<int64_t>(i);
    // Indices out of range are clamped.
    const Expr inside =
        op("clip", {indices}, {{"a_min", 0.0}, {"a_max", static_cast<double>(shape[axis] - 1)}});
    const Expr where = op("expand_dims", {inside}, {{"axis", int64_t{0}}});
    Expr sums = op("scatter_nd", {reorder(zeros, data_front), where, reorder(updates, to_front)},
                   {{"mode", std::string("add")}});
    sums = reorder(sums, back);
    if (flat) sums = op("reshape_like", {sums, data});
    return Adjoints{sums, zeros_like(indices)};
  }};
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
      .rules = op_rules(take_gradient(), MixedPrecision::kFollow, PartOfOperand{takes_one}),
      .test_shapes = {"(5, 4)f32, (6)i32[0, 3]", "(4, 2)f32, (3)i64{-3, 0, 7}, axis=0, mode=wrap",
                      "(2, 5, 4)f32, (2, 3)i32[0, 5], axis=1, batch_dims=1"},
  };
  return def;
}

}  // namespace baton
