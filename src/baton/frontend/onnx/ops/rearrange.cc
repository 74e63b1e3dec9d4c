// Operators that move elements, and give tensors other shapes and types.
#include <algorithm>
#include <numeric>

#include "baton/frontend/onnx/operators.h"
#include "baton/frontend/onnx/ops/numbers.h"
#include "baton/ir/extent.h"

namespace baton::onnx {

namespace {

DType int64() { return DType::int_(64); }

/// Relay's reshape copies and infers extents; it has no names for symbolic ones. nullopt: more than one is
/// neither where it was nor follows from the others.
std::optional<std::vector<int64_t>> static_form(const std::vector<Dim>& from, const std::vector<Dim>& to) {
  std::vector<int64_t> shape;
  int inferred = 0;
  for (size_t i = 0; i < to.size(); ++i) {
    if (!to.at(i).is_any() && to.at(i).value() != 0)
      shape.push_back(to.at(i).value());
    else if (i < from.size() && from.at(i) == to.at(i))
      shape.push_back(0);
    else if (!to.at(i).is_any())
      return std::nullopt;  // an extent of 0 that is no copy
    else if (++inferred > 1)
      return std::nullopt;
    else
      shape.push_back(-1);
  }
  if (inferred && std::ranges::count(shape, -1) > 1) return std::nullopt;
  return shape;
}

Expr reshaped_by(Conversion& c, const Expr& data, const KnownIntegers& to, bool zero_copies) {
  const std::vector<Dim>& from = tensor_type(data).shape();
  std::vector<Dim> wanted = to.values;
  for (size_t i = 0; i < wanted.size(); ++i)
    if (zero_copies && wanted[i] == Dim(0)) {
      if (i >= from.size())
        throw c.error("its shape copies extent " + std::to_string(i) + " of a tensor of rank " +
                      std::to_string(from.size()));
      wanted[i] = from.at(i);
    }
  if (const auto shape = static_form(from, wanted)) return c.reshape(data, *shape);
  const auto is_number = [](const std::vector<Dim>& all) { return std::ranges::none_of(all, &Dim::is_any); };
  if (is_number(wanted) && is_number(from)) {
    // Of an extent of 0, which Relay's reshape would copy: the result has no elements.
    std::vector<int64_t> shape;
    for (const Dim each : wanted) shape.push_back(each.value());
    const auto rest = std::ranges::find(shape, -1);
    if (rest != shape.end()) *rest = 0;
    return c.call("full", {c.scalar(0, tensor_type(data).dtype())},
                  {{"shape", shape}, {"dtype", tensor_type(data).dtype()}});
  }
  // An extent of 0 that is still there is none that copies.
  return c.call("dyn.reshape", {data, c.tensor(KnownIntegers{wanted, false, int64()})}, {{"allowzero", 1}});
}

/// How many elements a vector of extents or axes has: the rank of a result, which Relay has to know.
int64_t length_of(const Conversion& c, size_t input) {
  const std::vector<Dim>& shape = c.type(input).shape();
  if (shape.size() != 1 || shape.at(0).is_any())
    throw c.not_supported("results whose rank is only known at run time");
  return shape.at(0).value();
}

Values reshape(Conversion& c) {
  const bool zero_copies = c.integer("allowzero", 0) == 0;
  if (c.version < 5) {
    const auto shape = c.integers_of("shape");
    if (!shape) throw c.error("attribute `shape` is missing");
    return {reshaped_by(c, c[0], {{shape->begin(), shape->end()}, false, int64()}, zero_copies)};
  }
  if (const auto shape = c.integers(1)) return {reshaped_by(c, c[0], *shape, zero_copies)};
  return {c.call("dyn.reshape", {c[0], c[1]}, {{"allowzero", zero_copies ? 0 : 1}})};
}

Values flatten(Conversion& c) {
  const int rank = c.rank(0);
  int64_t axis = c.integer("axis", 1);
  if (axis < -rank || axis > rank)
    throw c.error("axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank));
  if (axis < 0) axis += rank;
  const std::vector<Dim>& from = c.type(0).shape();
  Dim rows = 1, columns = 1;
  for (int i = 0; i < rank; ++i)
    (i < axis ? rows : columns) = (i < axis ? rows : columns) * from.at(static_cast<size_t>(i));
  return {reshaped_by(c, c[0], {{rows, columns}, false, int64()}, false)};
}

/// Axes as an attribute before version 13, as an input from then on.
std::optional<std::vector<int64_t>> axes_of(Conversion& c) {
  if (c.version < 13) return c.integers_of("axes");
  return c.has(1) ? std::optional(c.required_numbers(1, "axes")) : std::nullopt;
}

/// Axes that come at run time change the rank by their number.
Values with_axes_later(Conversion& c, int sign) {
  const std::vector<Dim>& axes = c.type(1).shape();
  if (axes.size() > 1 || (axes.size() == 1 && axes.at(0).is_any()))
    throw c.not_supported("results whose rank is only known at run time (a number of axes)");
  return c.later(c.rank(0) + sign * static_cast<int>(axes.empty() ? 1 : axes.at(0).value()), c.dtype(0));
}

Values squeeze(Conversion& c) {
  if (c.version >= 13 && !c.knows({1})) return with_axes_later(c, -1);
  const auto given = axes_of(c);
  if (!given) {
    std::vector<int64_t> axes;
    for (int i = 0; i < c.rank(0); ++i)
      if (c.type(0).shape().at(static_cast<size_t>(i)) == Dim(1)) axes.push_back(i);
    return {axes.empty() ? c[0] : c.call("squeeze", {c[0]}, {{"axis", axes}})};
  }
  const std::vector<int64_t> axes = c.axes(*given, c.rank(0));
  for (const int64_t axis : axes)
    if (const Dim extent = c.type(0).shape().at(static_cast<size_t>(axis));
        !extent.is_any() && extent != Dim(1))
      throw c.error("axis " + std::to_string(axis) + " has " + std::to_string(extent.value()) +
                    " elements, and only one can be taken away");
  return {axes.empty() ? c[0] : c.call("squeeze", {c[0]}, {{"axis", axes}})};
}

Values unsqueeze(Conversion& c) {
  if (c.version >= 13 && !c.knows({1})) return with_axes_later(c, 1);
  const auto given = axes_of(c);
  if (!given) throw c.error("its axes are missing");
  // Positions in the result, whatever their order.
  const std::vector<int64_t> axes = c.axes(*given, c.rank(0) + static_cast<int>(given->size()));
  Expr result = c[0];
  for (const int64_t axis : axes)
    result = c.call("expand_dims", {result}, {{"axis", axis}, {"num_newaxis", 1}});
  return {result};
}

Values transpose(Conversion& c) {
  std::vector<int64_t> axes(static_cast<size_t>(c.rank(0)));
  if (const auto given = c.integers_of("perm")) {
    if (given->size() != axes.size() || c.axes(*given, c.rank(0)).size() != axes.size())
      throw c.error("`perm` is no permutation of " + std::to_string(axes.size()) + " axes");
    axes = *given;
    for (int64_t& axis : axes) axis = c.axis(axis, c.rank(0));
  } else {
    std::iota(axes.rbegin(), axes.rend(), int64_t{0});
  }
  return {c.transpose(c[0], axes)};
}

/// Both broadcast: an extent of 1 in the shape leaves the tensor's.
/// Expanded by numbers that come at run time: axes of more than one element keep their extents.
Values expand_later(const Conversion& c, size_t rank) {
  const std::vector<Dim>& from = c.type(0).shape();
  std::vector<Dim> to(std::max(rank, from.size()), Dim::any());
  for (size_t i = 0; i < from.size(); ++i)
    if (!from.at(i).is_any() && from.at(i) != Dim(1)) to.at(to.size() - from.size() + i) = from.at(i);
  return c.later({baton::tensor_type(to, c.dtype(0))});
}

Values expand(Conversion& c) {
  const auto shape = c.integers(1);
  if (!shape) return expand_later(c, static_cast<size_t>(length_of(c, 1)));
  const std::vector<Dim>& from = c.type(0).shape();
  std::vector<Dim> to = shape->values;
  if (to.size() < from.size()) to.insert(to.begin(), from.size() - to.size(), Dim(1));
  for (size_t i = 0; i < from.size(); ++i) {
    Dim& each = to.at(to.size() - from.size() + i);
    if (each == Dim(1)) each = from.at(i);
    // Which of two unknown extents is 1, only their values say.
    if (each != from.at(i) && (from.at(i).is_any() || (each.is_any() && from.at(i) != Dim(1))))
      return expand_later(c, to.size());
    if (from.at(i) != Dim(1) && from.at(i) != each && !from.at(i).is_any() && !each.is_any())
      throw c.error("a tensor of " + std::to_string(from.at(i).value()) +
                    " elements along an axis cannot be expanded to " + std::to_string(each.value()));
  }
  std::vector<int64_t> numbers;
  for (const Dim each : to)
    if (!each.is_any()) numbers.push_back(each.value());
  if (numbers.size() == to.size())
    return {c.call("broadcast_to", {c[0]}, {{"shape", numbers}, {"dtype", ""}})};
  return {c.call("dyn.broadcast_to", {c[0], c.tensor(KnownIntegers{to, false, int64()})})};
}

Values tile(Conversion& c) {
  if (c.version < 6) {  // tiles along one axis
    if (!c.knows({1, 2})) return c.later(c.rank(0), c.dtype(0));
    const auto tiles = c.required_numbers(1, "tiles"), axis = c.required_numbers(2, "axes");
    std::vector<int64_t> reps(static_cast<size_t>(c.rank(0)), 1);
    reps[static_cast<size_t>(c.axis(axis.at(0), c.rank(0)))] = tiles.at(0);
    return {c.call("tile", {c[0]}, {{"reps", reps}})};
  }
  if (const auto reps = c.numbers(1)) {
    if (std::ranges::all_of(*reps, [](int64_t each) { return each > 0; }))
      return {reps->empty() ? c[0] : c.call("tile", {c[0]}, {{"reps", *reps}})};
    std::vector<int64_t> shape;
    for (size_t i = 0; i < reps->size(); ++i) {
      const Dim extent = c.type(0).shape().at(i);
      if (extent.is_any()) return c.later(c.rank(0), c.dtype(0));
      shape.push_back(extent.value() * (*reps)[i]);
    }
    return {c.call("full", {c.scalar(0, c.dtype(0))}, {{"shape", shape}, {"dtype", c.dtype(0)}})};
  }
  if (c.type(1).shape() == std::vector<Dim>{c.rank(0)}) return {c.call("dyn.tile", {c[0], c[1]})};
  return c.later(c.rank(0), c.dtype(0));
}

Values concat(Conversion& c) {
  std::vector<Expr> parts;
  for (size_t i = 0; i < c.count(); ++i) parts.push_back(c[i]);
  const int axis = c.axis(c.version < 4 ? c.integer("axis", 1) : c.required_integer("axis"), c.rank(0));
  if (parts.size() == 1) return {parts[0]};
  return {c.call("concatenate", {tuple(parts)}, {{"axis", axis}})};
}

/// From each edge to the next, and from the last one to the end.
Values parts_between(const Conversion& c, int axis, const std::vector<int64_t>& edges) {
  Values results;
  for (size_t i = 0; i < edges.size(); ++i)
    results.emplace_back(
        c.call("strided_slice", {c[0]},
               {{"begin", std::vector<int64_t>{edges[i]}},
                {"end", std::vector<int64_t>{i + 1 < edges.size() ? edges[i + 1] : INT64_MAX}},
                {"strides", std::vector<int64_t>{1}},
                {"slice_mode", "end"},
                {"axes", std::vector<int64_t>{axis}}}));
  return results;
}

Values split(Conversion& c) {
  const int axis = c.axis(c.integer("axis", 0), c.rank(0));
  const Dim extent = c.type(0).shape().at(static_cast<size_t>(axis));
  const auto count = static_cast<int64_t>(c.outputs());
  std::optional<std::vector<int64_t>> parts = c.version < 13 ? c.integers_of("split") : std::nullopt;
  if (!parts && c.version >= 13 && !c.knows({1})) {
    std::vector<Dim> shape = c.type(0).shape();
    shape.at(static_cast<size_t>(axis)) = Dim::any();
    return c.later(std::vector<Type>(c.outputs(), baton::tensor_type(shape, c.dtype(0))));
  }
  if (!parts && c.has(1)) parts = c.required_numbers(1, "parts");
  if (parts && static_cast<int64_t>(parts->size()) != count)
    throw c.error("it has " + std::to_string(count) + " outputs and the sizes of " +
                  std::to_string(parts->size()));
  std::vector<int64_t> places;
  if (!parts) {
    if (extent.is_any()) {
      std::vector<Dim> shape = c.type(0).shape();
      shape.at(static_cast<size_t>(axis)) = Dim::any();
      return c.later(std::vector<Type>(c.outputs(), baton::tensor_type(shape, c.dtype(0))));
    }
    // The last part is smaller where they do not come out even.
    const int64_t each = (extent.value() + count - 1) / count;
    for (int64_t i = 1; i < count; ++i) places.push_back(std::min(i * each, extent.value()));
  } else {
    const int64_t sum = std::accumulate(parts->begin(), parts->end(), int64_t{0});
    if (std::ranges::any_of(*parts, [](int64_t part) { return part < 0; }) ||
        (!extent.is_any() && sum != extent.value()))
      throw c.error("the sizes of its parts add up to " + std::to_string(sum) + ", and the axis has " +
                    (extent.is_any() ? "?" : std::to_string(extent.value())));
    int64_t at = 0;
    for (int64_t i = 0; i + 1 < count; ++i) places.push_back(at += (*parts)[static_cast<size_t>(i)]);
  }
  if (count == 1) return {c[0]};
  // Relay's split has no parts without elements.
  std::vector<int64_t> edges{0};
  edges.insert(edges.end(), places.begin(), places.end());
  if (std::ranges::adjacent_find(edges) != edges.end() || Dim(edges.back()) == extent)
    return parts_between(c, axis, edges);
  AttrList sections;
  for (const int64_t place : places) sections.emplace_back(place);
  const Expr all = c.call("split", {c[0]}, {{"indices_or_sections", sections}, {"axis", axis}});
  Values results;
  for (int i = 0; i < count; ++i) results.emplace_back(c.item(all, i));
  return results;
}

/// Where starts or ends are computed at run time: vectors over all axes.
Values slice_by_tensors(Conversion& c, const std::optional<std::vector<int64_t>>& axes,
                        const std::optional<std::vector<int64_t>>& steps) {
  const auto rank = static_cast<size_t>(c.rank(0));
  std::vector<int64_t> along(static_cast<size_t>(length_of(c, 1)));
  std::iota(along.begin(), along.end(), int64_t{0});
  if (axes) {
    along = *axes;
    for (int64_t& axis : along) axis = c.axis(axis, c.rank(0));
  }
  const Expr starts = c.cast(c[1], int64()), ends = c.cast(c[2], int64());
  const auto over_all = [&](const Expr& given, const std::vector<int64_t>& otherwise) {
    std::vector<Expr> parts;
    for (size_t i = 0; i < rank; ++i) {
      const auto at = std::ranges::find(along, static_cast<int64_t>(i));
      const auto from = static_cast<int64_t>(at - along.begin());
      parts.push_back(at == along.end() ? c.vector({otherwise[i]})
                                        : c.call("strided_slice", {given},
                                                 {{"begin", std::vector<int64_t>{from}},
                                                  {"end", std::vector<int64_t>{from + 1}},
                                                  {"strides", std::vector<int64_t>{1}}}));
    }
    return parts.size() == 1 ? parts[0] : c.call("concatenate", {tuple(parts)}, {{"axis", 0}});
  };
  std::vector<int64_t> strides(rank, 1);
  for (size_t i = 0; steps && i < along.size(); ++i) strides.at(static_cast<size_t>(along[i])) = (*steps)[i];
  return {c.call("dyn.strided_slice",
                 {c[0], over_all(starts, std::vector<int64_t>(rank, 0)),
                  over_all(ends, std::vector<int64_t>(rank, INT64_MAX)), c.vector(strides)},
                 {{"slice_mode", "end"}})};
}

Values slice(Conversion& c) {
  const int rank = c.rank(0);
  std::optional<std::vector<int64_t>> starts, ends, axes, steps;
  if (c.version < 10) {
    starts = c.integers_of("starts"), ends = c.integers_of("ends"), axes = c.integers_of("axes");
    if (!starts || !ends) throw c.error("`starts` or `ends` is missing");
  } else {
    starts = c.numbers(1), ends = c.numbers(2);
    if (!c.knows({3, 4})) return c.later(c.rank(0), c.dtype(0));
    if (c.has(3)) axes = c.required_numbers(3, "axes");
    if (c.has(4)) steps = c.required_numbers(4, "steps");
    if (!starts || !ends) {
      const bool forward = !steps || std::ranges::all_of(*steps, [](int64_t step) { return step > 0; });
      return forward ? slice_by_tensors(c, axes, steps) : c.later(c.rank(0), c.dtype(0));
    }
  }
  if (!axes) {
    axes.emplace(starts->size());
    std::iota(axes->begin(), axes->end(), int64_t{0});
  }
  if (starts->size() != ends->size() || starts->size() != axes->size() ||
      (steps && steps->size() != axes->size()))
    throw c.error("its starts, ends, axes and steps are not equally many");
  c.axes(*axes, rank);
  Expr result = c[0];
  std::vector<int64_t> begin, end, strides, along;
  for (size_t i = 0; i < axes->size(); ++i) {
    const int axis = c.axis((*axes)[i], rank);
    const int64_t step = steps ? (*steps)[i] : 1;
    if (step == 0) throw c.error("a step is 0");
    int64_t from = (*starts)[i], to = (*ends)[i];
    const Dim extent = c.type(0).shape().at(static_cast<size_t>(axis));
    if (!extent.is_any()) {
      const int64_t n = extent.value();
      const auto place = [&](int64_t at) {
        return std::clamp(at < 0 ? at + n : at, step > 0 ? int64_t{0} : int64_t{-1}, step > 0 ? n : n - 1);
      };
      from = place(from), to = place(to);
      if (step > 0) to = std::max(from, to);
      if (step < 0 && to == -1) to = -n - 1;  // beyond the first: -1 would be the last
    }
    begin.push_back(from), end.push_back(to), strides.push_back(step), along.push_back(axis);
  }
  if (along.empty()) return {result};
  return {
      c.call("strided_slice", {result},
             {{"begin", begin}, {"end", end}, {"strides", strides}, {"slice_mode", "end"}, {"axes", along}})};
}

// ---- Types.

/// The type of a number of TensorProto.DataType. Elements of 4 and 2 bits are bytes here, which keep what
/// does not fit into these.
DType whole_type(Conversion& c, int64_t number) {
  const auto element = static_cast<Element>(number);
  const std::optional<DType> dtype = dtype_of(element);
  if (!dtype || is_packed(element)) throw c.not_supported("casts to " + element_name(element));
  return *dtype;
}

Values cast(Conversion& c) { return {c.cast(c[0], whole_type(c, c.required_integer("to")))}; }
Values cast_like(Conversion& c) { return {c.cast(c[0], c.dtype(1))}; }

// ---- New tensors.

Values shape_of(Conversion& c) {
  const int rank = c.rank(0);
  const auto place = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const int64_t begin = place(c.integer("start", 0)), end = std::max(begin, place(c.integer("end", rank)));
  const Expr shape = c.call("shape_of", {c[0]}, {{"dtype", int64()}});
  if (begin == 0 && end == rank) return {shape};
  return {c.call("strided_slice", {shape},
                 {{"begin", std::vector<int64_t>{begin}},
                  {"end", std::vector<int64_t>{end}},
                  {"strides", std::vector<int64_t>{1}}})};
}
Values size_of(Conversion& c) { return {c.call("ndarray_size", {c[0]}, {{"dtype", int64()}})}; }

Values constant(Conversion& c) {
  using Kind = AttributeFile::Kind;
  for (const AttributeFile& each : c.node.attributes) {
    if (each.kind == Kind::kTensor && each.name == "value") {
      Value value(c.constant(c.elements(each.tensors.at(0))));
      value.packed_bits = packed_bits(each.tensors.at(0).element);
      return {value};
    }
    if (each.kind == Kind::kSparseTensor) return {c.constant(c.elements(*each.sparse))};
    const auto floats = [&](Shape shape, std::vector<float> values) {
      return Values{c.constant(NDArray::of<float>(std::move(shape), values, DType::float_(32)))};
    };
    const auto integers = [&](Shape shape, std::vector<int64_t> values) {
      return Values{c.constant(NDArray::of<int64_t>(std::move(shape), values, int64()))};
    };
    if (each.name == "value_float") return floats({}, {each.f});
    if (each.name == "value_floats") return floats({static_cast<int64_t>(each.floats.size())}, each.floats);
    if (each.name == "value_int") return integers({}, {each.i});
    if (each.name == "value_ints") return integers({static_cast<int64_t>(each.ints.size())}, each.ints);
    if (each.name == "value_string" || each.name == "value_strings")
      throw c.not_supported("constants of texts");
  }
  throw c.error("it has no value");
}

Values constant_of_shape(Conversion& c) {
  Expr fill = c.scalar(0, DType::float_(32));
  if (const AttributeFile* value = c.attribute("value")) {
    const NDArray given = c.elements(value->tensors.at(0));
    if (given.size() != 1)
      throw c.error("`value` has " + std::to_string(given.size()) + " elements, and should have one");
    fill = c.constant(given.reshaped({}));
  }
  const DType dtype = tensor_type(fill).dtype();
  if (const auto shape = c.numbers(0)) return {c.call("full", {fill}, {{"shape", *shape}, {"dtype", dtype}})};
  return {c.call("dyn.full", {fill, c[0]}, {{"dtype", dtype}})};
}

/// Floats of 16 bits in float32, in which none of them loses a digit.
Values range(Conversion& c) {
  const DType type = c.dtype(0);
  const bool is_short = (type.is_float() || type.is_bfloat()) && type.bits == 16;
  const DType wide = is_short ? DType::float_(32) : type;
  // Bounds are scalars; files have lists of one number, too, which other engines take.
  const auto bound = [&](size_t i) {
    return c.cast(c.rank(i) == 1 ? c.call("squeeze", {c[i]}, {{"axis", std::vector<int64_t>{0}}}) : c[i],
                  wide);
  };
  return {c.cast(c.call("arange", {bound(0), bound(1), bound(2)}, {{"dtype", wide}}), type)};
}

// ---- Blocks of pixels.

Values depth_to_space(Conversion& c) {
  const std::string mode = c.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") throw c.error("`mode` is \"" + mode + "\", and should be DCR or CRD");
  return {
      c.call("nn.depth_to_space", {c[0]}, {{"block_size", c.required_integer("blocksize")}, {"mode", mode}})};
}
/// The new channels of one old channel side by side: (n, c, h, b, w, b) -> (n, c, b, b, h, w).
Values pixels_behind_channels(Conversion& c, int64_t block) {
  if (!c.has_known_shape(0)) return c.later(c.rank(0), c.dtype(0));
  if (c.rank(0) != 4) throw c.error("it has rank " + std::to_string(c.rank(0)) + ", and should have 4");
  std::vector<int64_t> of;
  for (const Dim each : c.type(0).shape()) of.push_back(each.value());
  if (block < 1 || of[2] % block != 0 || of[3] % block != 0)
    throw c.error("blocks of " + std::to_string(block) + " do not divide " + std::to_string(of[2]) + " x " +
                  std::to_string(of[3]) + " pixels");
  const int64_t rows = of[2] / block, columns = of[3] / block;
  const Expr blocks = c.reshape(c[0], {of[0], of[1], rows, block, columns, block});
  return {c.reshape(c.transpose(blocks, {0, 1, 3, 5, 2, 4}), {of[0], of[1] * block * block, rows, columns})};
}
Values space_to_depth(Conversion& c) {
  const std::string mode = c.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") throw c.error("`mode` is \"" + mode + "\", and should be DCR or CRD");
  if (mode == "CRD") return pixels_behind_channels(c, c.required_integer("blocksize"));
  return {c.call("nn.space_to_depth", {c[0]}, {{"block_size", c.required_integer("blocksize")}})};
}

}  // namespace

const std::vector<Operator>& rearranging_operators() {
  static const std::vector<Operator> all = {
      {"", "Cast", {1, 6, 9, 13, 19, 21, 23, 24, 25, 28}, &cast},
      {"", "CastLike", {15, 19, 21, 23, 24, 25}, &cast_like},
      {"", "Concat", {1, 4, 11, 13}, &concat},
      {"", "Constant", {1, 9, 11, 12, 13, 19, 21, 23, 24, 25}, &constant},
      {"", "ConstantOfShape", {9, 20, 21, 23, 24, 25}, &constant_of_shape},
      {"", "DepthToSpace", {1, 11, 13, 28}, &depth_to_space},
      {"", "Expand", {8, 13}, &expand},
      {"", "Flatten", {1, 9, 11, 13, 21, 23, 24, 25}, &flatten},
      {"", "Range", {11, 27}, &range},
      {"", "Reshape", {1, 5, 13, 14, 19, 21, 23, 24, 25}, &reshape},
      {"", "Shape", {1, 13, 15, 19, 21, 23, 24, 25}, &shape_of},
      {"", "Size", {1, 13, 19, 21, 23, 24, 25}, &size_of},
      {"", "Slice", {1, 10, 11, 13}, &slice},
      {"", "SpaceToDepth", {1, 13, 28}, &space_to_depth},
      {"", "Split", {1, 2, 11, 13, 18}, &split},
      {"", "Squeeze", {1, 11, 13, 21, 23, 24, 25}, &squeeze},
      {"", "Tile", {1, 6, 13}, &tile},
      {"", "Transpose", {1, 13, 21, 23, 24, 25}, &transpose},
      {"", "Unsqueeze", {1, 11, 13, 21, 23, 24, 25}, &unsqueeze},
  };
  return all;
}

}  // namespace baton::onnx
