// Gradients of operators that move elements, or change shapes and element types.
#include <algorithm>
#include <functional>
#include <numeric>

#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/rules/gradient_rules.h"

namespace baton {

using namespace gradients;

namespace {

// The adjoint of the data; all other arguments get zeros.
Adjoints with_zeros(const Call& call, Expr data) {
  Adjoints adjoints{std::move(data)};
  for (size_t i = 1; i < call->args().size(); ++i) adjoints.push_back(zeros_like(call->args()[i]));
  return adjoints;
}

std::vector<int64_t> axes_but(size_t rank, int64_t last) {
  std::vector<int64_t> axes;
  for (size_t axis = 0; axis < rank; ++axis)
    if (static_cast<int64_t>(axis) != last) axes.push_back(static_cast<int64_t>(axis));
  return axes;
}

}  // namespace

GradientRule cast_gradient() {
  return {[](const Call& call, const Expr& g) {
    return with_zeros(call, op("cast_like", {g, call->args()[0]}));
  }};
}

GradientRule reshape_gradient() {
  return {[](const Call& call, const Expr& g) {
    return with_zeros(call, op("reshape_like", {g, call->args()[0]}));
  }};
}

GradientRule expand_dims_gradient() {
  return {[](const Call& call, const Expr& g) {
    Expr data = g;
    for (int64_t i = 0; i < int_attr(*call, "num_newaxis"); ++i)
      data = op("squeeze", {data}, {{"axis", AttrValue(std::vector<int64_t>{int_attr(*call, "axis")})}});
    return Adjoints{data};
  }};
}

GradientRule transpose_gradient() {
  return {[](const Call& call, const Expr& g) {
    const std::vector<int64_t> axes = ints_attr(*call, "axes");
    if (axes.empty()) return Adjoints{op("transpose", {g})};
    std::vector<int64_t> back(axes.size());
    for (size_t i = 0; i < axes.size(); ++i)
      back[front_axis(axes[i], static_cast<int>(axes.size()))] = static_cast<int64_t>(i);
    return Adjoints{op("transpose", {g}, {{"axes", AttrValue(back)}})};
  }};
}

GradientRule collapse_sum_gradient() {
  return {[](const Call& call, const Expr& g) {
    return with_zeros(call, op("broadcast_to_like", {g, call->args()[0]}));
  }};
}

GradientRule concatenate_gradient() {
  return {[](const Call& call, const Expr& g) {
    const auto* parts = as_type<TupleTypeNode>(call->args()[0]->checked_type());
    BATON_CHECK(parts && !parts->fields().empty(), "concatenate takes a tuple");
    const int64_t axis = int_attr(*call, "axis");
    std::vector<int64_t> begins;
    int64_t end = 0;
    for (size_t i = 0; i + 1 < parts->fields().size(); ++i) {
      const auto* part = as_type<TensorTypeNode>(parts->fields()[i]);
      const Dim extent = part->shape()[front_axis(axis, part->rank())];
      if (extent.is_any())
        refuse(*call, "needs known extents along its axis, got " + type_text(parts->fields()[i]));
      begins.push_back(end += extent.value());
    }
    return Adjoints{op("split", {g}, {{"indices_or_sections", AttrValue(begins)}, {"axis", axis}})};
  }};
}

GradientRule stack_gradient() {
  return {[](const Call& call, const Expr& g) {
    const auto* parts = as_type<TupleTypeNode>(call->args()[0]->checked_type());
    BATON_CHECK(parts && !parts->fields().empty(), "stack takes a tuple");
    const int64_t axis = int_attr(*call, "axis");
    const auto count = static_cast<int64_t>(parts->fields().size());
    const Expr split = op("split", {g}, {{"indices_or_sections", count}, {"axis", axis}});
    std::vector<Expr> fields;
    for (int i = 0; i < count; ++i)
      fields.push_back(
          op("squeeze", {get_item(split, i)}, {{"axis", AttrValue(std::vector<int64_t>{axis})}}));
    return Adjoints{tuple(std::move(fields))};
  }};
}

// The slice's place in zeros is set to g.
GradientRule strided_slice_gradient() {
  return {[](const Call& call, const Expr& g) {
    const std::vector<int64_t> shape = static_arg(*call, 0);
    std::vector<int64_t> begin = ints_attr(*call, "begin"), end = ints_attr(*call, "end"),
                         strides = ints_attr(*call, "strides");
    std::vector<int64_t> axes = ints_attr(*call, "axes");
    if (axes.empty()) {
      axes.resize(begin.size());
      std::iota(axes.begin(), axes.end(), 0);
    }
    const bool sizes = text_attr(*call, "slice_mode") == "size";
    std::vector<int64_t> from(shape.size(), 0), to = shape, step(shape.size(), 1);
    for (size_t i = 0; i < begin.size(); ++i) {
      const int axis = front_axis(axes[i], static_cast<int>(shape.size()));
      from[axis] = begin[i];
      if (sizes)
        to[axis] = end[i] == -1 ? shape[axis] : (begin[i] < 0 ? begin[i] + shape[axis] : begin[i]) + end[i];
      else
        to[axis] = end[i];
      // One stride may be given for all axes.
      if (!sizes && !strides.empty()) step[axis] = strides.size() == 1 ? strides[0] : strides[i];
    }
    const auto vector = [](const std::vector<int64_t>& values) {
      return Expr(
          constant(NDArray::of<int64_t>({static_cast<int64_t>(values.size())}, values, DType::int_(64))));
    };
    return Adjoints{
        op("strided_set", {zeros_like(call->args()[0]), g, vector(from), vector(to), vector(step)})};
  }};
}

// out[..., n, ...] = data[..., indices[n], ...], so data's adjoint gets g[..., n, ...] added at indices[n]:
// with the axis in front that is a scatter.
GradientRule take_gradient() {
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
    // Indices outside count as the nearest ones inside.
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

GradientRule gather_nd_gradient() {
  return {[](const Call& call, const Expr& g) {
    const Expr &data = call->args()[0], &indices = call->args()[1];
    if (int_attr(*call, "batch_dims") != 0) refuse(*call, "with batch_dims is not provided yet");
    return Adjoints{op("scatter_nd", {zeros_like(data), indices, g}, {{"mode", std::string("add")}}),
                    zeros_like(indices)};
  }};
}

GradientRule one_hot_gradient() {
  return {[](const Call& call, const Expr& g) {
    const Expr &indices = call->args()[0], &on = call->args()[1], &off = call->args()[2];
    const Expr zero = zeros_like(g), is_on = op("equal", {Expr(call), on});
    return Adjoints{zeros_like(indices), op("cast_like", {op("sum", {op("where", {is_on, g, zero})}), on}),
                    op("cast_like", {op("sum", {op("where", {is_on, zero, g})}), off})};
  }};
}

// y[i] = start + i * step
GradientRule arange_gradient() {
  return {[](const Call& call, const Expr& g) {
    const Expr &start = call->args()[0], &stop = call->args()[1], &step = call->args()[2];
    const DType index = DType::int_(32);
    const Expr length =
        op("take", {op("shape_of", {Expr(call)}), Expr(scalar(0, index))}, {{"axis", int64_t{0}}});
    const Expr numbers =
        op("arange", {Expr(scalar(0, index)), length, Expr(scalar(1, index))}, {{"dtype", index}});
    const Expr weighted = mul(op("cast_like", {numbers, g}), g);
    return Adjoints{op("cast_like", {op("sum", {g}), start}), zeros_like(stop),
                    op("cast_like", {op("sum", {weighted}), step})};
  }};
}

}  // namespace baton
