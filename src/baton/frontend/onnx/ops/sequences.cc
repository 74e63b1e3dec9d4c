// Sequences and optionals: a sequence is the list of its elements while importing, and leaves no operator
// behind. An optional is its element, or none.
#include <algorithm>

#include "baton/frontend/onnx/conversion.h"
#include "baton/types/infer_type.h"

namespace baton::onnx {

namespace {

const Values& sequence(const Conversion& c, size_t i) {
  if (const Value& given = c.value(i); given.sequence) return *given.sequence;
  throw c.error("input " + std::to_string(i) + " is no sequence");
}

/// Input `i` as a place in a sequence of `count` elements, up to `last`; nullopt where it is computed at run
/// time.
std::optional<size_t> position(const Conversion& c, size_t i, size_t count, size_t last) {
  const auto given = c.numbers(i);
  if (!given) return std::nullopt;
  if (given->size() != 1) throw c.error("a position has " + std::to_string(given->size()) + " elements");
  const int64_t at = given->at(0) + (given->at(0) < 0 ? static_cast<int64_t>(count) : 0);
  if (at < 0 || at > static_cast<int64_t>(last))
    throw c.error("position " + std::to_string(given->at(0)) + " of a sequence of " + std::to_string(count) +
                  " elements");
  return static_cast<size_t>(at);
}

size_t known_position(const Conversion& c, size_t i, size_t count, size_t last) {
  if (const auto at = position(c, i, count, last)) return *at;
  throw c.not_supported("positions in sequences that are computed at run time");
}

Expr tensors(const Conversion& c, const Values& elements) {
  std::vector<Expr> fields;
  for (const Value& each : elements) fields.push_back(c.tensor(each));
  return infer_type(baton::tuple(std::move(fields)));
}

Values empty(Conversion&) { return {Value::of_sequence({})}; }

Values construct(Conversion& c) {
  Values elements;
  for (size_t i = 0; i < c.count(); ++i) elements.push_back(c.value(i));
  return {Value::of_sequence(std::move(elements))};
}

Values insert(Conversion& c) {
  Values elements = sequence(c, 0);
  const size_t at = c.has(2) ? known_position(c, 2, elements.size(), elements.size()) : elements.size();
  elements.insert(elements.begin() + static_cast<int64_t>(at), c.value(1));
  return {Value::of_sequence(std::move(elements))};
}

Values erase(Conversion& c) {
  Values elements = sequence(c, 0);
  if (elements.empty()) throw c.error("it erases an element of an empty sequence");
  const size_t at =
      c.has(1) ? known_position(c, 1, elements.size(), elements.size() - 1) : elements.size() - 1;
  elements.erase(elements.begin() + static_cast<int64_t>(at));
  return {Value::of_sequence(std::move(elements))};
}

/// A position that is computed at run time takes one of the elements as a tensor, where they are of one type.
Values at(Conversion& c) {
  const Values& elements = sequence(c, 0);
  if (elements.empty()) throw c.error("it reads an element of an empty sequence");
  if (const auto known = position(c, 1, elements.size(), elements.size() - 1)) return {elements[*known]};
  const Expr all = tensors(c, elements);
  for (const Value& each : elements)
    if (!same_type(c.tensor(each)->checked_type(), c.tensor(elements.front())->checked_type()))
      throw c.not_supported("positions that are computed at run time, in sequences of several types,");
  const auto count = static_cast<int64_t>(elements.size());
  const Expr given = c.cast(c.rank(1) == 0 ? c[1] : c.reshape(c[1], {}), DType::int_(64));
  const Expr index =
      c.call("where", {c.call("less", {given, c.scalar(0, DType::int_(64))}),
                       c.call("add", {given, c.scalar(static_cast<double>(count), DType::int_(64))}), given});
  return {c.call("take", {c.call("stack", {all}, {{"axis", 0}}), index}, {{"axis", 0}})};
}

Values length(Conversion& c) {
  return {KnownIntegers{{static_cast<int64_t>(sequence(c, 0).size())}, true, DType::int_(64)}};
}

// ---- Tensors to sequences and back.

/// Extents of the parts along an axis of `extent` elements.
std::vector<int64_t> parts_of(const Conversion& c, int64_t extent) {
  if (!c.has(1)) return std::vector<int64_t>(c.table_size({extent}), 1);
  const auto given = c.required_numbers(1, "parts of a tensor");
  if (c.integers(1) && !c.integers(1)->is_scalar) {
    int64_t sum = 0;
    for (const int64_t each : given) {
      if (each < 0 || each > extent - sum)
        throw c.error("its parts are longer than the axis of " + std::to_string(extent));
      sum += each;
    }
    if (sum != extent)
      throw c.error("its parts have " + std::to_string(sum) + " elements of an axis of " +
                    std::to_string(extent));
    return given;
  }
  if (given.size() != 1 || given.at(0) < 1) throw c.error("a part has to have one element or more");
  std::vector<int64_t> parts;
  for (int64_t begin = 0; begin < extent; begin += given.at(0))
    parts.push_back(std::min(given.at(0), extent - begin));
  return parts;
}

/// Parts whose lengths are computed at run time; how many there are is known.
Values split_at_run_time(Conversion& c, int axis) {
  const Dim count = c.rank(1) == 1 ? c.type(1).shape().front() : Dim::any();
  if (count.is_any()) throw c.not_supported("sequences of a number of parts that is computed at run time");
  const auto rank = static_cast<size_t>(c.rank(0));
  const DType index = DType::int_(64);
  const Expr lengths = c.cast(c[1], index);
  const auto one_of = [&](const Expr& from, int64_t at) {
    return c.call("take", {from, c.vector({at})}, {{"axis", 0}});
  };
  const auto over_all = [&](const Expr& given, int64_t otherwise) {
    std::vector<Expr> parts(rank, c.vector({otherwise}));
    parts[static_cast<size_t>(axis)] = given;
    return rank == 1 ? parts[0] : c.call("concatenate", {infer_type(baton::tuple(parts))}, {{"axis", 0}});
  };
  Values elements;
  Expr begin = c.vector({0});
  for (int64_t i = 0; i < count.value(); ++i) {
    const Expr end = c.call("add", {begin, one_of(lengths, i)});
    elements.emplace_back(
        c.call("dyn.strided_slice",
               {c[0], over_all(begin, 0), over_all(end, INT64_MAX), c.vector(std::vector<int64_t>(rank, 1))},
               {{"slice_mode", "end"}}));
    begin = end;
  }
  return {Value::of_sequence(std::move(elements))};
}

Values split_to_sequence(Conversion& c) {
  const int axis = c.axis(c.integer("axis", 0), c.rank(0));
  if (c.has(1) && !c.numbers(1)) return split_at_run_time(c, axis);
  const Dim extent = c.type(0).shape().at(static_cast<size_t>(axis));
  if (extent.is_any()) throw c.not_supported("sequences of parts along an axis whose extent is not known");
  const bool drops_axis = !c.has(1) && c.integer("keepdims", 1) == 0;
  const Expr data = c[0];
  Values elements;
  int64_t begin = 0;
  for (const int64_t part : parts_of(c, extent.value())) {
    const Expr slice = c.call("strided_slice", {data},
                              {{"begin", std::vector<int64_t>{begin}},
                               {"end", std::vector<int64_t>{begin + part}},
                               {"strides", std::vector<int64_t>{1}},
                               {"slice_mode", "end"},
                               {"axes", std::vector<int64_t>{axis}}});
    elements.emplace_back(drops_axis ? c.call("squeeze", {slice}, {{"axis", std::vector<int64_t>{axis}}})
                                     : slice);
    begin += part;
  }
  return {Value::of_sequence(std::move(elements))};
}

Values concat_from_sequence(Conversion& c) {
  const Values& elements = sequence(c, 0);
  if (elements.empty()) throw c.error("it joins an empty sequence");
  const bool is_new = c.integer("new_axis", 0) != 0;
  const Expr all = tensors(c, elements);
  const int rank = tensor_type(c.tensor(elements.front())).rank() + (is_new ? 1 : 0);
  return {
      c.call(is_new ? "stack" : "concatenate", {all}, {{"axis", c.axis(c.required_integer("axis"), rank)}})};
}

// ---- Optionals.

Values optional(Conversion& c) {
  if (c.has(0)) return {c.value(0)};
  Value none;
  none.is_none = true;
  return {none};
}

Values get_element(Conversion& c) {
  if (c.value(0).is_none) throw c.error("it reads the element of an optional that has none");
  return {c.value(0)};
}

Values has_element(Conversion& c) {
  const int64_t has = c.has(0) && !c.value(0).is_none;
  return {KnownIntegers{{has}, true, DType::bool_()}};
}

}  // namespace

const std::vector<Operator>& sequence_operators() {
  static const std::vector<Operator> all = {
      {"", "ConcatFromSequence", {11}, &concat_from_sequence},
      {"", "Optional", {15, 28}, &optional},
      {"", "OptionalGetElement", {15, 18, 28}, &get_element},
      {"", "OptionalHasElement", {15, 18, 28}, &has_element},
      {"", "SequenceAt", {11}, &at},
      {"", "SequenceConstruct", {11}, &construct},
      {"", "SequenceEmpty", {11}, &empty},
      {"", "SequenceErase", {11}, &erase},
      {"", "SequenceInsert", {11}, &insert},
      {"", "SequenceLength", {11}, &length},
      {"", "SplitToSequence", {11, 24}, &split_to_sequence},
  };
  return all;
}

}  // namespace baton::onnx
