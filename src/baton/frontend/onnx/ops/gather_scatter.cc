// Elements by index: gathered, scattered, sorted, selected.
#include <algorithm>
#include <map>
#include <numeric>

#include "baton/frontend/onnx/operators.h"
#include "baton/frontend/onnx/ops/numbers.h"
#include "baton/ir/extent.h"

namespace baton::onnx {

namespace {

DType int64() { return DType::int_(64); }

Dim extent_of(const Expr& value, int axis) {
  return tensor_type(value).shape().at(static_cast<size_t>(axis));
}

Expr extent_at_run_time(const Conversion& c, const Expr& data, int axis) {
  const Expr shape = c.call("shape_of", {data}, {{"dtype", int64()}});
  return c.call("take", {shape, c.scalar(static_cast<double>(axis), int64())}, {{"axis", 0}});
}

/// Negative indices count from the end. Constant ones are counted here, and have to lie within the extent.
Expr from_front(const Conversion& c, const Expr& indices, const Expr& data, int axis, size_t input) {
  const Dim extent = extent_of(data, axis);
  if (const ConstantNode* known = c.constant(input); known && !extent.is_any()) {
    const NDArray& array = known->value();
    const bool wide = array.dtype().bits == 64;
    bool any = false;
    for (int64_t i = 0; i < array.size(); ++i) {
      const int64_t at =
          wide ? array.as<int64_t>()[static_cast<size_t>(i)] : array.as<int32_t>()[static_cast<size_t>(i)];
      if (at < -extent.value() || at >= extent.value())
        throw c.error("index " + std::to_string(at) + " is outside of an axis of " +
                      std::to_string(extent.value()) + " elements");
      any |= at < 0;
    }
    if (!any) return indices;
  }
  const DType type = tensor_type(indices).dtype();
  const Expr zero = c.scalar(0, type), count = extent.is_any()
                                                   ? c.cast(extent_at_run_time(c, data, axis), type)
                                                   : c.scalar(static_cast<double>(extent.value()), type);
  return c.call("where", {c.call("less", {indices, zero}), c.call("add", {indices, count}), indices});
}

Values gather(Conversion& c) {
  const int axis = c.axis(c.integer("axis", 0), c.rank(0));
  return {c.call("take", {c[0], from_front(c, c[1], c[0], axis, 1)}, {{"axis", axis}, {"mode", "clip"}})};
}

Values gather_elements(Conversion& c) {
  const int axis = c.axis(c.integer("axis", 0), c.rank(0));
  return {c.call("gather", {c[0], from_front(c, c[1], c[0], axis, 1)}, {{"axis", axis}})};
}

/// Relay's indices have the axis of coordinates first.
Expr coordinates_first(Conversion& c, const Expr& indices) {
  const int rank = tensor_type(indices).rank();
  std::vector<int64_t> axes{rank - 1};
  for (int i = 0; i + 1 < rank; ++i) axes.push_back(i);
  return c.transpose(indices, axes);
}

/// Coordinates of which some may be negative; `batch`: axes in front that both tensors share.
Expr coordinates(Conversion& c, const Expr& data, const Expr& indices, int batch) {
  const Dim depth = last_extent(tensor_type(indices));
  if (depth.is_any()) throw c.not_supported("coordinates whose number is only known at run time");
  std::vector<int64_t> extents;
  bool is_known = true;
  for (int64_t i = 0; i < depth.value(); ++i) {
    const Dim extent = extent_of(data, batch + static_cast<int>(i));
    is_known &= !extent.is_any();
    extents.push_back(extent.is_any() ? 0 : extent.value());
  }
  const DType type = tensor_type(indices).dtype();
  const Expr shape = c.call("shape_of", {data}, {{"dtype", int64()}});
  const Expr counts = is_known ? c.vector(extents, type)
                               : c.cast(c.call("strided_slice", {shape},
                                               {{"begin", std::vector<int64_t>{batch}},
                                                {"end", std::vector<int64_t>{batch + depth.value()}},
                                                {"strides", std::vector<int64_t>{1}}}),
                                        type);
  return c.call("where",
                {c.call("less", {indices, c.scalar(0, type)}), c.call("add", {indices, counts}), indices});
}

Values gather_nd(Conversion& c) {
  const auto batch = static_cast<int>(c.integer("batch_dims", 0));
  return {c.call("gather_nd", {c[0], coordinates_first(c, coordinates(c, c[0], c[1], batch))},
                 {{"batch_dims", batch}, {"index_rank", AttrValue()}})};
}

Values scatter_nd(Conversion& c) {
  const std::string reduction = c.text("reduction", "none");
  const char* mode = reduction == "none"  ? "update"
                     : reduction == "add" ? "add"
                     : reduction == "mul" ? "mul"
                     : reduction == "min" ? "min"
                     : reduction == "max" ? "max"
                                          : nullptr;
  if (!mode) throw c.error("`reduction` is \"" + reduction + "\", and should be none, add, mul, min or max");
  return {c.call("scatter_nd", {c[0], coordinates_first(c, coordinates(c, c[0], c[1], 0)), c[2]},
                 {{"mode", mode}})};
}

Values scatter_elements(Conversion& c) {
  const int axis = c.axis(c.integer("axis", 0), c.rank(0));
  const std::string reduction = c.text("reduction", "none");
  const Expr indices = from_front(c, c[1], c[0], axis, 1);
  if (reduction == "none") return {c.call("scatter", {c[0], indices, c[2]}, {{"axis", axis}})};
  if (reduction == "add") return {c.call("scatter_add", {c[0], indices, c[2]}, {{"axis", axis}})};
  if (!c.has_known_shape(1)) return c.later({Type(&c.type(0))});
  // By coordinates of each element: its own along the other axes.
  const std::vector<Dim>& shape = tensor_type(indices).shape();
  std::vector<int64_t> extents;
  for (const Dim each : shape) extents.push_back(each.value());
  std::vector<Expr> along;
  for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
    if (i == axis) {
      along.push_back(c.cast(indices, int64()));
      continue;
    }
    std::vector<int64_t> own(c.table_size({extents.at(static_cast<size_t>(i))})), ones(shape.size(), 1);
    std::iota(own.begin(), own.end(), int64_t{0});
    ones[static_cast<size_t>(i)] = extents.at(static_cast<size_t>(i));
    along.push_back(
        c.call("broadcast_to", {c.reshape(c.vector(own), ones)}, {{"shape", extents}, {"dtype", ""}}));
  }
  if (reduction != "mul" && reduction != "min" && reduction != "max")
    throw c.error("`reduction` is \"" + reduction + "\", and should be none, add, mul, min or max");
  return {c.call("scatter_nd", {c[0], c.call("stack", {tuple(along)}, {{"axis", 0}}), c[2]},
                 {{"mode", reduction}})};
}

Values top_k(Conversion& c) {
  const int axis = c.axis(c.integer("axis", -1), c.rank(0));
  if (c.version >= 10 && !c.knows({1})) {
    std::vector<Dim> shape = c.type(0).shape();
    shape.at(static_cast<size_t>(axis)) = Dim::any();
    return c.later({baton::tensor_type(shape, c.dtype(0)), baton::tensor_type(shape, int64())});
  }
  const int64_t k =
      c.version < 10 ? c.required_integer("k") : c.required_numbers(1, "numbers of elements").at(0);
  const bool largest = c.integer("largest", 1) != 0;
  const Expr both =
      c.call("topk", {c[0]},
             {{"k", k}, {"axis", axis}, {"ret_type", "both"}, {"is_ascend", !largest}, {"dtype", int64()}});
  return {c.item(both, 0), c.item(both, 1)};
}

template <const char* kOp>
Values running(Conversion& c) {
  if (!c.knows({1})) return c.later({Type(&c.type(0))});
  const int axis = c.axis(c.required_numbers(1, "axes").at(0), c.rank(0));
  const bool exclusive = c.integer("exclusive", 0) != 0, reverse = c.integer("reverse", 0) != 0;
  const auto turned = [&](const Expr& value) {
    return reverse ? c.call("reverse", {value}, {{"axis", axis}}) : value;
  };
  return {
      turned(c.call(kOp, {turned(c[0])}, {{"axis", axis}, {"dtype", c.dtype(0)}, {"exclusive", exclusive}}))};
}

constexpr char kSum[] = "cumsum", kProduct[] = "cumprod";

Values one_hot(Conversion& c) {
  if (!c.knows({1})) return c.later(c.rank(0) + 1, c.dtype(2));
  const std::vector<int64_t> depth{static_cast<int64_t>(reals_of(c, 1).at(0))};
  const int rank = c.rank(0) + 1, axis = c.axis(c.integer("axis", -1), rank);
  const Expr values = c[2];
  const DType type = tensor_type(values).dtype();
  const auto value = [&](int64_t at) {
    return c.call("take", {values, c.scalar(static_cast<double>(at), int64())}, {{"axis", 0}});
  };
  const Expr indices = c.cast(c[0], int64());
  const Expr counted = c.call(
      "where", {c.call("less", {indices, c.scalar(0, int64())}),
                c.call("add", {indices, c.scalar(static_cast<double>(depth.at(0)), int64())}), indices});
  return {c.call("one_hot", {counted, value(1), value(0)},
                 {{"depth", depth.at(0)}, {"axis", axis}, {"dtype", type}})};
}

Values trilu(Conversion& c) {
  if (!c.knows({1})) return c.later({Type(&c.type(0))});
  const int64_t k = c.has(1) ? c.required_numbers(1, "diagonals").at(0) : 0;
  return {c.call("trilu", {c[0], c.scalar(static_cast<double>(k), int64())},
                 {{"upper", c.integer("upper", 1) != 0}})};
}

Values eye_like(Conversion& c) {
  const std::vector<Dim>& shape = c.type(0).shape();
  if (shape.size() != 2) throw c.error("it has rank " + std::to_string(shape.size()) + ", and should have 2");
  const AttributeFile* to = c.attribute("dtype");
  const std::optional<DType> type = to ? dtype_of(static_cast<Element>(to->i)) : c.dtype(0);
  if (!type) throw c.not_supported("unit matrices of " + element_name(static_cast<Element>(to->i)));
  if (!c.has_known_shape(0)) return c.later({baton::tensor_type(shape, *type)});
  const int64_t k = c.integer("k", 0), rows = shape.at(0).value(), columns = shape.at(1).value();
  std::vector<int64_t> row(c.table_size({rows})), column(c.table_size({columns}));
  std::iota(row.begin(), row.end(), k);
  std::iota(column.begin(), column.end(), int64_t{0});
  const Expr is_one =
      c.call("equal", {c.reshape(c.vector(row), {rows, 1}), c.reshape(c.vector(column), {1, columns})});
  return {c.cast(is_one, *type)};
}

Values non_zero(Conversion& c) {
  const Expr places = c.call("argwhere", {c[0]});
  return {c.cast(c.transpose(places, {1, 0}), int64())};
}

/// The equation with letters for each "...", from those that it does not use; ascending axes, the last one
/// the same for all operands.
std::string without_ellipsis(const Conversion& c, const std::string& equation) {
  std::string unused;
  for (char letter = 'A'; letter <= 'z'; letter = static_cast<char>(letter == 'Z' ? 'a' : letter + 1))
    if (equation.find(letter) == std::string::npos) unused += letter;
  const size_t arrow = equation.find("->");
  const std::string operands = equation.substr(0, arrow);
  std::string result;
  size_t most = 0, operand = 0;
  std::map<char, int> uses;
  for (size_t begin = 0; begin <= operands.size(); ++operand) {
    const size_t end = std::min(operands.find(',', begin), operands.size());
    std::string letters = operands.substr(begin, end - begin);
    for (const char letter : letters)
      if (letter != '.') ++uses[letter];
    if (const size_t at = letters.find("..."); at != std::string::npos && c.has(operand)) {
      const int axes = c.rank(operand) - static_cast<int>(letters.size() - 3);
      if (axes < 0 || static_cast<size_t>(axes) > unused.size())
        throw c.error("`equation` does not fit the rank of operand " + std::to_string(operand));
      most = std::max(most, static_cast<size_t>(axes));
      letters.replace(at, 3, unused.substr(unused.size() - static_cast<size_t>(axes)));
    }
    result += (operand ? "," : "") + letters;
    begin = end + 1;
  }
  const std::string all = unused.substr(unused.size() - most);
  result += "->";
  if (arrow != std::string::npos) {
    std::string to = equation.substr(arrow + 2);
    if (const size_t at = to.find("..."); at != std::string::npos) to.replace(at, 3, all);
    return result + to;
  }
  result += all;
  for (const auto& [letter, count] : uses)
    if (count == 1) result += letter;
  return result;
}

Values einsum(Conversion& c) {
  std::vector<Expr> operands;
  for (size_t i = 0; i < c.count(); ++i) operands.push_back(c[i]);
  std::string equation;
  for (const char letter : c.text("equation", ""))
    if (letter != ' ') equation += letter;
  if (equation.find('.') != std::string::npos) equation = without_ellipsis(c, equation);
  return {c.call("einsum", {tuple(operands)}, {{"equation", equation}})};
}

Values reverse_sequence(Conversion& c) {
  return {c.call("reverse_sequence", {c[0], c[1]},
                 {{"seq_axis", c.integer("time_axis", 0)}, {"batch_axis", c.integer("batch_axis", 1)}})};
}

/// Pads in front and behind, negative ones cut.
Values pad(Conversion& c) {
  const int rank = c.rank(0);
  const std::string mode = c.text("mode", "constant");
  if (c.version >= 11 && !c.knows({1, 3})) return c.later(rank, c.dtype(0));
  const std::optional<std::vector<int64_t>> given =
      c.version < 11 ? (c.version < 2 ? c.integers_of("paddings") : c.integers_of("pads"))
                     : std::optional(c.required_numbers(1, "paddings"));
  if (!given) throw c.error("attribute `pads` is missing");
  std::vector<int64_t> along(static_cast<size_t>(rank));
  std::iota(along.begin(), along.end(), int64_t{0});
  if (c.version >= 18 && c.has(3)) {
    along = c.required_numbers(3, "axes");
    for (int64_t& axis : along) axis = c.axis(axis, rank);
  }
  if (given->size() != 2 * along.size())
    throw c.error("it has " + std::to_string(given->size()) + " paddings for " +
                  std::to_string(along.size()) + " axes");
  std::vector<int64_t> before(static_cast<size_t>(rank)), after(static_cast<size_t>(rank));
  for (size_t i = 0; i < along.size(); ++i) {
    before[static_cast<size_t>(along[i])] = (*given)[i];
    after[static_cast<size_t>(along[i])] = (*given)[i + along.size()];
  }
  Expr data = c[0];
  // Negative ones first: a cut.
  std::vector<int64_t> begin, end, cut;
  for (int i = 0; i < rank; ++i) {
    const auto at = static_cast<size_t>(i);
    if (before[at] >= 0 && after[at] >= 0) continue;
    const Dim extent = extent_of(data, i);
    if (extent.is_any()) return c.later(rank, c.dtype(0));
    begin.push_back(std::max<int64_t>(0, -before[at])),
        end.push_back(extent.value() - std::max<int64_t>(0, -after[at])), cut.push_back(i);
    before[at] = std::max<int64_t>(0, before[at]), after[at] = std::max<int64_t>(0, after[at]);
  }
  if (!cut.empty())
    data = c.call("strided_slice", {data},
                  {{"begin", begin},
                   {"end", end},
                   {"strides", std::vector<int64_t>(cut.size(), 1)},
                   {"slice_mode", "end"},
                   {"axes", cut}});
  AttrList widths;
  for (size_t i = 0; i < before.size(); ++i) widths.emplace_back(std::vector<int64_t>{before[i], after[i]});
  if (mode == "constant") {
    const DType type = c.dtype(0);
    const Expr fill =
        c.version >= 11 && c.has(2) ? c.reshape(c[2], {}) : c.scalar(c.number("value", 0), type);
    return {c.call("nn.pad", {data, fill}, {{"pad_width", widths}, {"pad_mode", "constant"}})};
  }
  if (mode == "edge")
    return {c.call("nn.pad", {data, c.scalar(0, c.dtype(0))}, {{"pad_width", widths}, {"pad_mode", "edge"}})};
  if (mode == "reflect")
    return {
        c.call("nn.pad", {data, c.scalar(0, c.dtype(0))}, {{"pad_width", widths}, {"pad_mode", "reflect"}})};
  if (mode != "wrap")
    throw c.error("`mode` is \"" + mode + "\", and should be constant, reflect, edge or wrap");
  for (int i = 0; i < rank; ++i) {
    const auto at = static_cast<size_t>(i);
    const Dim extent = extent_of(data, i);
    if (before[at] == 0 && after[at] == 0) continue;
    if (extent.is_any()) return c.later(rank, c.dtype(0));
    if (extent.value() == 0) throw c.error("an axis without elements cannot be padded by its own elements");
    std::vector<int64_t> places;
    places.reserve(c.table_size({extent.value() + before[at] + after[at]}));
    for (int64_t k = -before[at]; k < extent.value() + after[at]; ++k)
      places.push_back((k % extent.value() + extent.value()) % extent.value());
    data = c.call("take", {data, c.vector(places)}, {{"axis", i}});
  }
  return {data};
}

}  // namespace

const std::vector<Operator>& indexing_operators() {
  static const std::vector<Operator> all = {
      {"", "CumSum", {11, 14}, &running<kSum>},
      {"", "CumProd", {26}, &running<kProduct>},
      {"", "Einsum", {12, 28}, &einsum},
      {"", "EyeLike", {9, 22}, &eye_like},
      {"", "Gather", {1, 11, 13}, &gather},
      {"", "GatherElements", {11, 13}, &gather_elements},
      {"", "GatherND", {11, 12, 13}, &gather_nd},
      {"", "NonZero", {9, 13}, &non_zero},
      {"", "OneHot", {9, 11, 28}, &one_hot},
      {"", "Pad", {1, 2, 11, 13, 18, 19, 21, 23, 24, 25}, &pad},
      {"", "ReverseSequence", {10, 28}, &reverse_sequence},
      {"", "Scatter", {9, 11}, &scatter_elements},
      {"", "ScatterElements", {11, 13, 16, 18}, &scatter_elements},
      {"", "ScatterND", {11, 13, 16, 18}, &scatter_nd},
      {"", "TopK", {1, 10, 11, 24}, &top_k},
      {"", "Trilu", {14}, &trilu},
  };
  return all;
}

}  // namespace baton::onnx
