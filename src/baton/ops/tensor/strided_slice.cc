#include <algorithm>

#include "baton/ir/rules/layout_flow_rules.h"
#include "baton/ir/rules/quantization_rule.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/rules/layout_rules.h"
#include "baton/ops/shared/reindex.h"
#include "baton/ops/tensor/dynamic_forms.h"

namespace baton {

template <>
const AttrSchema& attr_schema<StridedSliceAttrs>() {
  using A = StridedSliceAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.StridedSliceAttrs",
      {{"begin", &A::begin, "the first index per axis", kNoDefault},
       {"end", &A::end,
        "one past the last index per axis, or with slice_mode \"size\" the number of elements", kNoDefault},
       {"strides", &A::strides, "the step per axis; missing ones are 1", kNoDefault},
       {"slice_mode", &A::slice_mode, "\"end\" or \"size\""},
       {"axes", &A::axes, "the axes that begin, end and strides speak of; None: the first ones",
        kNoDefault}});
  return schema;
}

Slice slice_of(const StridedSliceAttrs& attrs, size_t k, int64_t extent) {
  const bool by_size = attrs.slice_mode == "size";
  auto entry = [&](const std::optional<Ints>& list) {
    return list && k < list->size() ? std::optional((*list)[k]) : std::nullopt;
  };
  // Steps beyond the axis take one element, whatever their length.
  const int64_t most = std::max<int64_t>(extent, 1),
                step = by_size ? 1 : std::clamp(entry(attrs.strides).value_or(1), -most, most);
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
  auto clamped = [&](int64_t at) { return std::clamp(at < 0 ? at + extent : at, low, high); };
  Slice slice;
  slice.step = step;
  const std::optional<int64_t> begin = entry(attrs.begin), end = entry(attrs.end);
  slice.first = begin ? clamped(*begin) : (step > 0 ? 0 : extent - 1);
  int64_t last = step > 0 ? extent : -1;  // one past
  if (end && by_size)
    last = *end < 0 || *end > extent - slice.first ? extent : slice.first + *end;
  else if (end)
    last = clamped(*end);
  const int64_t way = step > 0 ? last - slice.first : slice.first - last;
  slice.count = way <= 0 ? 0 : (way + std::abs(step) - 1) / std::abs(step);
  return slice;
}

namespace {

// The axis of the k-th entry; nullopt after a report.
std::optional<std::vector<int>> sliced_axes(RelationContext& ctx, const StridedSliceAttrs& attrs, int rank) {
  const size_t count = std::max(attrs.begin ? attrs.begin->size() : 0, attrs.end ? attrs.end->size() : 0);
  std::vector<int> axes;
  if (attrs.axes) {
    if (!check_count(ctx, "axes", *attrs.axes, count)) return std::nullopt;
    for (const int64_t named : *attrs.axes) {
      const auto axis = checked_axis(ctx, named, rank);
      if (!axis) return std::nullopt;
      axes.push_back(*axis);
    }
    return axes;
  }
  if (count > static_cast<size_t>(rank)) {
    fail_attr(ctx, "begin", std::to_string(count) + " values",
              "the data has only " + std::to_string(rank) + " axes");
    return std::nullopt;
  }
  for (size_t k = 0; k < count; ++k) axes.push_back(static_cast<int>(k));
  return axes;
}

// Whether the k-th entry takes the whole axis, however long it is.
bool is_whole_slice(const StridedSliceAttrs& attrs, size_t k) {
  const auto entry = [&](const std::optional<Ints>& list, int64_t missing) {
    return list && k < list->size() ? (*list)[k] : missing;
  };
  if (entry(attrs.begin, 0) != 0) return false;
  if (attrs.slice_mode == "size") return entry(attrs.end, -1) < 0;
  return entry(attrs.strides, 1) == 1 && entry(attrs.end, INT64_MAX) >= INT32_MAX;
}

RelationStatus slice_relation(RelationContext& ctx, const StridedSliceAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (attrs.slice_mode != "end" && attrs.slice_mode != "size")
    return fail_attr(ctx, "slice_mode", "\"" + attrs.slice_mode + "\"", "it must be \"end\" or \"size\"");
  if (attrs.strides)
    for (const int64_t step : *attrs.strides)
      if (step == 0) return fail_attr(ctx, "strides", "0", "a step cannot be 0");
  const auto axes = sliced_axes(ctx, attrs, data->rank());
  if (!axes) return kFailed;
  std::vector<Dim> shape = data->shape();
  for (size_t k = 0; k < axes->size(); ++k) {
    Dim& dim = shape[(*axes)[k]];
    if (!dim.is_any())
      dim = slice_of(attrs, k, dim.value()).count;
    else if (!is_whole_slice(attrs, k))
      dim = Dim::any();
  }
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

void slice_compute(Compute& c, const StridedSliceAttrs& attrs) {
  const Tensor& data = c.in(0);
  const size_t count = std::max(attrs.begin ? attrs.begin->size() : 0, attrs.end ? attrs.end->size() : 0);
  reindex_compute(c, "strided_slice", [&](Index i) {
    for (size_t k = 0; k < count; ++k) {
      const int64_t named = attrs.axes ? (*attrs.axes)[k] : static_cast<int64_t>(k);
      const int axis = static_cast<int>(named < 0 ? named + data.rank() : named);
      if (data.dim(axis).is_any() && is_whole_slice(attrs, k)) continue;
      const Slice slice = slice_of(attrs, k, data.extent(axis));
      i[axis] = i[axis] * as_int(slice.step) + as_int(slice.first);
    }
    return i;
  });
}

// The slice's place in zeros is set to g.
GradientRule strided_slice_gradient() {
  using namespace gradients;
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

bool steps_forward(const CallNode& call) {
  const std::vector<int64_t> steps = ints_attr(call, "strides");
  return text_attr(call, "slice_mode") == "size" ||
         std::ranges::all_of(steps, [](int64_t s) { return s > 0; });
}

}  // namespace

const OpDef& op_strided_slice() {
  static const OpDef def = OpSpec<StridedSliceAttrs>{
      .name = "strided_slice",
      .doc = "The elements from begin to end (exclusive) in steps, by axis, as numpy slices.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kInjective,
      .relation = slice_relation,
      .compute = slice_compute,
      .rules = op_rules(strided_slice_gradient(), strided_slice_layout_flow(), flow_layout_rule(),
                        MixedPrecision::kFollow, FakeQuantizationRule{fake_quantized_strided_slice},
                        QuantizationRule{QuantizationRule::Does::kSame}, PartOfOperand{steps_forward}),
      .test_shapes = {"(6, 5)f32, begin=[1], end=[3], strides=[1], axes=None",
                      "(6, 5)f32, begin=[2, 0], end=[-1, 2], strides=[1], slice_mode=size, axes=None"},
  };
  return def;
}

}  // namespace baton
