// Elements that are chosen by values, put into others' places, cropped, or read as another type.
#include <algorithm>
#include <numeric>

#include "baton/frontend/onnx/operators.h"

namespace baton::onnx {

namespace {

/// The first of `values` along an axis, as many as `count`, a vector of one, says.
Expr first_of(const Conversion& c, const Expr& values, const Expr& count) {
  return c.call("dyn.strided_slice", {values, c.vector({0}), c.cast(count, DType::int_(64)), c.vector({1})},
                {{"slice_mode", "end"}});
}

Values compress(Conversion& c) {
  const bool is_flat = !c.has_attribute("axis");
  const Expr data = is_flat ? c.call("reshape", {c[0]}, {{"newshape", std::vector<int64_t>{-1}}}) : c[0];
  const int axis = is_flat ? 0 : c.axis(c.integer("axis", 0), c.rank(0));
  const Expr places = c.call("squeeze", {c.call("argwhere", {c[1]})}, {{"axis", std::vector<int64_t>{1}}});
  return {c.call("take", {data, places}, {{"axis", axis}, {"mode", "clip"}})};
}

// ---- Unique.

/// For rows (n, m), how many are before each in the order of their elements: equal rows have equal numbers.
Expr order_of_rows(const Conversion& c, const Expr& rows, int64_t n, int64_t m) {
  const DType int32 = DType::int_(32);
  const Expr one = c.reshape(rows, {n, 1, m}), other = c.reshape(rows, {1, n, m});
  // Of the first elements that differ, whether the one is less: an odd number. Earlier ones count more.
  std::vector<int32_t> ranks;
  for (int64_t k = 0; k < m; ++k) ranks.push_back(static_cast<int32_t>(2 * (m - k)));
  const Expr rank = c.constant(NDArray::of<int32_t>({1, 1, m}, ranks, int32));
  const Expr is_less = c.call("add", {rank, c.cast(c.call("less", {one, other}), int32)});
  const Expr differs = c.call("not_equal", {one, other});
  const Expr first = c.call("max", {c.call("where", {differs, is_less, c.scalar(0, int32)})},
                            {{"axis", std::vector<int64_t>{2}}, {"keepdims", false}});
  return c.call("sum", {c.call("mod", {first, c.scalar(2, int32)})},
                {{"axis", std::vector<int64_t>{0}}, {"keepdims", false}});
}

/// What is in `data` along `axis` once by `keys`, a list of one key for each place; where it is first, where
/// each place's is among these, and how often each is there.
Values once_each(const Conversion& c, const Expr& data, const Expr& keys, int axis, bool sorted) {
  const DType int64 = DType::int_(64);
  const Expr all = c.call("unique", {keys}, {{"sorted", sorted}, {"return_counts", true}});
  const Expr count = c.item(all, 3);
  const Expr indices = first_of(c, c.item(all, 1), count);
  return {c.call("take", {data, indices}, {{"axis", axis}, {"mode", "clip"}}), c.cast(indices, int64),
          c.cast(c.item(all, 2), int64), c.cast(first_of(c, c.item(all, 4), count), int64)};
}

/// com.microsoft has it for lists: in their order, without the places where each is first.
Values unique_in_order(Conversion& c) {
  if (c.rank(0) != 1) throw c.error("its input is no list");
  if (!c.has_known_shape(0)) {
    const Type list = baton::tensor_type(std::vector<Dim>{Dim::any()}, DType::int_(64));
    return c.later({baton::tensor_type(std::vector<Dim>{Dim::any()}, c.dtype(0)), list, list});
  }
  Values all = once_each(c, c[0], c[0], 0, false);
  all.erase(all.begin() + 1);
  return all;
}

Values unique(Conversion& c) {
  const DType int64 = DType::int_(64);
  const bool is_flat = !c.has_attribute("axis");
  const int axis = is_flat ? 0 : c.axis(c.integer("axis", 0), c.rank(0));
  std::vector<Dim> shape = c.type(0).shape();
  if (!c.has_known_shape(0)) {
    if (is_flat)
      shape = {Dim::any()};
    else
      shape.at(static_cast<size_t>(axis)) = Dim::any();
    const Type vector = baton::tensor_type(std::vector<Dim>{Dim::any()}, int64);
    return c.later({baton::tensor_type(shape, c.dtype(0)), vector, vector, vector});
  }
  Expr keys, data = c[0];
  if (is_flat) {
    keys = data = c.reshape(c[0], {-1});
  } else {
    std::vector<int64_t> order(shape.size());
    std::iota(order.begin(), order.end(), int64_t{0});
    std::swap(order.at(0), order.at(static_cast<size_t>(axis)));
    const int64_t n = shape.at(static_cast<size_t>(axis)).value();
    int64_t m = 1;
    for (size_t i = 0; i < shape.size(); ++i) m *= static_cast<int>(i) == axis ? 1 : shape.at(i).value();
    keys = order_of_rows(c, c.reshape(c.transpose(c[0], order), {n, m}), n, m);
  }
  return once_each(c, data, keys, axis, c.integer("sorted", 1) != 0);
}

// ---- Caches.

/// For each place of the cache, which of the new elements goes there.
Values tensor_scatter(Conversion& c) {
  const int rank = c.rank(0), axis = c.axis(c.integer("axis", -2), rank);
  const std::string mode = c.text("mode", "linear");
  if (mode != "linear" && mode != "circular")
    throw c.error("`mode` is \"" + mode + "\", and should be linear or circular");
  if (axis == 0) throw c.error("its axis is that of the batch");
  if (!c.has_known_shape(0) || !c.has_known_shape(1)) return c.later({Type(&c.type(0))});
  const DType int64 = DType::int_(64);
  std::vector<int64_t> shape;
  for (const Dim each : c.type(0).shape()) shape.push_back(each.value());
  const int64_t size = shape.at(static_cast<size_t>(axis)),
                added = c.type(1).shape().at(static_cast<size_t>(axis)).value();
  if (added == 0) return {c[0]};
  std::vector<int64_t> places(c.table_size({size})), along(static_cast<size_t>(rank), 1),
      batch(static_cast<size_t>(rank), 1);
  std::iota(places.begin(), places.end(), int64_t{0});
  along[static_cast<size_t>(axis)] = size, batch[0] = shape.at(0);
  Expr from = c.reshape(c.vector(places), along);
  if (c.has(2)) from = c.call("subtract", {from, c.reshape(c.cast(c[2], int64), batch)});
  if (mode == "circular") from = c.call("floor_mod", {from, c.scalar(static_cast<double>(size), int64)});
  const Expr last = c.scalar(static_cast<double>(added - 1), int64), zero = c.scalar(0, int64);
  const Expr is_new =
      c.call("logical_and", {c.call("greater_equal", {from, zero}), c.call("less_equal", {from, last})});
  const Expr index = c.call("broadcast_to", {c.call("minimum", {c.call("maximum", {from, zero}), last})},
                            {{"shape", shape}, {"dtype", ""}});
  return {c.call("where", {is_new, c.call("gather", {c[1], index}, {{"axis", axis}}), c[0]})};
}

/// The middle of the data, or the data in the middle of zeros; behind the middle where that is none.
Values center_crop_pad(Conversion& c) {
  const int rank = c.rank(0);
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), int64_t{0});
  if (const auto given = c.integers_of("axes")) {
    axes = *given;
    for (int64_t& axis : axes) axis = c.axis(axis, rank);
  }
  if (!c.knows({1}) || !c.has_known_shape(0)) return c.later(rank, c.dtype(0));
  const std::vector<int64_t> wanted = *c.numbers(1);
  if (wanted.size() != axes.size())
    throw c.error("it has " + std::to_string(axes.size()) + " axes and " + std::to_string(wanted.size()) +
                  " extents");
  std::vector<std::vector<int64_t>> widths(static_cast<size_t>(rank), std::vector<int64_t>{0, 0});
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axes.at(i));
    const int64_t more = wanted[i] - c.type(0).shape().at(axis).value(), before = more / 2;
    widths[axis] = {before, more - before};
  }
  AttrList pairs;
  for (const auto& each : widths) pairs.emplace_back(each);
  return {
      c.call("nn.pad", {c[0], c.scalar(0, c.dtype(0))}, {{"pad_width", pairs}, {"pad_mode", "constant"}})};
}

Values bit_cast(Conversion& c) {
  const auto element = static_cast<Element>(c.required_integer("to"));
  const std::optional<DType> type = dtype_of(element);
  if (!type || is_packed(element)) throw c.not_supported("bits of type " + element_name(element));
  if (*type == c.dtype(0)) return {c[0]};
  if (type->bytes() != c.dtype(0).bytes())
    throw c.error("elements of " + c.dtype(0).str() + " are not as large as those of " + type->str());
  // Bools are bytes of 0 and 1, and no type of bits.
  if (type->is_bool())
    return {c.call("not_equal", {c.cast(c[0], DType::uint_(8)), c.scalar(0, DType::uint_(8))})};
  if (c.dtype(0).is_bool()) return {c.cast(c[0], *type)};
  return {c.call("reinterpret", {c[0]}, {{"dtype", *type}})};
}

}  // namespace

const std::vector<Operator>& selecting_operators() {
  static const std::vector<Operator> all = {
      {"", "BitCast", {26}, &bit_cast},         {"", "CenterCropPad", {18}, &center_crop_pad},
      {"", "Compress", {9, 11, 28}, &compress}, {"", "TensorScatter", {24}, &tensor_scatter},
      {"", "Unique", {11, 28}, &unique},        {"com.microsoft", "Unique", {1}, &unique_in_order},
  };
  return all;
}

}  // namespace baton::onnx
