#include "baton/frontend/onnx/conversion.h"

#include <algorithm>

#include "baton/ir/inspect.h"
#include "baton/types/infer_type.h"

namespace baton::onnx {

namespace {

constexpr int kMostAxes = 64;
constexpr int64_t kMostOfTable = int64_t{1} << 26;
/// Attributes that extents are computed with.
constexpr std::string_view kOfWindows[] = {"pads", "strides", "dilations", "kernel_shape", "output_padding"};
constexpr int64_t kMostOfWindows = int64_t{1} << 31;
constexpr int64_t kMostKnown = 1024;  // elements of an integer tensor that importing computes with

const char* kind_name(AttributeFile::Kind kind) {
  using Kind = AttributeFile::Kind;
  switch (kind) {
    case Kind::kFloat:
      return "a number";
    case Kind::kInt:
      return "an integer";
    case Kind::kString:
      return "a text";
    case Kind::kTensor:
      return "a tensor";
    case Kind::kGraph:
      return "a graph";
    case Kind::kFloats:
      return "numbers";
    case Kind::kInts:
      return "integers";
    case Kind::kStrings:
      return "texts";
    default:
      return "of another kind";
  }
}

bool is_known_type(DType dtype) {
  return dtype == DType::int_(64) || dtype == DType::int_(32) || dtype == DType::bool_();
}

std::vector<int64_t> integers_of(const NDArray& array) {
  std::vector<int64_t> values;
  for (size_t i = 0; i < static_cast<size_t>(array.size()); ++i)
    values.push_back(array.dtype() == DType::int_(64)   ? array.as<int64_t>()[i]
                     : array.dtype() == DType::int_(32) ? array.as<int32_t>()[i]
                                                        : array.as<uint8_t>()[i]);
  return values;
}

std::optional<KnownIntegers> known_integers(const NDArray& array) {
  const DType dtype = array.dtype();
  if (array.ndim() > 1 || array.size() > kMostKnown || !is_known_type(dtype)) return std::nullopt;
  KnownIntegers known{{}, array.ndim() == 0, dtype};
  for (const int64_t value : integers_of(array)) {
    known.values.emplace_back(value);
    if (known.values.back().is_any()) return std::nullopt;  // near the least int64, no extent has a number
  }
  return known;
}

}  // namespace

const TensorTypeNode& tensor_type(const Expr& value) {
  const auto* type = as_type<TensorTypeNode>(value->checked_type());
  if (!type) throw Error("a value that should be a tensor is " + type_text(value->checked_type()));
  return *type;
}

const Value& Conversion::value(size_t i) const {
  if (!has(i)) throw error("input " + std::to_string(i) + " is not given");
  return inputs_[i];
}

Expr Conversion::operator[](size_t i) const {
  const Value& given = value(i);
  if (given.sequence) throw error("input " + std::to_string(i) + " is a sequence where a tensor should be");
  if (given.packed_bits != 0)
    throw not_supported("elements of " + std::to_string(given.packed_bits) + " bits (input " +
                        std::to_string(i) + ")");
  if (given.tensor) return given.tensor;
  made_.resize(inputs_.size());
  if (!made_[i]) made_[i] = around_.tensor(given);
  return made_[i];
}

const TensorTypeNode& Conversion::type(size_t i) const { return tensor_type((*this)[i]); }

const ConstantNode* Conversion::constant(size_t i) const {
  return has(i) && inputs_[i].tensor ? as<ConstantNode>(inputs_[i].tensor) : nullptr;
}

std::optional<KnownIntegers> Conversion::integers(size_t i) const {
  if (!has(i)) return std::nullopt;
  if (inputs_[i].integers) return *inputs_[i].integers;
  const ConstantNode* known = constant(i);
  return known ? known_integers(known->value()) : std::nullopt;
}

std::optional<std::vector<int64_t>> Conversion::numbers(size_t i) const {
  if (const ConstantNode* known = constant(i))
    return known->value().ndim() <= 1 && known->value().size() <= kMostKnown &&
                   is_known_type(known->value().dtype())
               ? std::optional(onnx::integers_of(known->value()))
               : std::nullopt;
  const std::optional<KnownIntegers> known = integers(i);
  if (!known) return std::nullopt;
  std::vector<int64_t> values;
  for (const Dim value : known->values) {
    if (value.is_any()) return std::nullopt;
    values.push_back(value.value());
  }
  return values;
}

std::vector<int64_t> Conversion::required_numbers(size_t i, const char* what) const {
  if (auto values = numbers(i)) return *values;
  throw not_supported(std::string(what) + " that are computed at run time");
}

bool Conversion::knows(std::initializer_list<size_t> inputs) const {
  return std::ranges::all_of(
      inputs, [&](size_t i) { return !has(i) || constant(i) != nullptr || numbers(i).has_value(); });
}

bool Conversion::has_known_shape(size_t i) const { return type(i).is_static(); }

Values Conversion::later(const std::vector<Type>& types) const {
  std::vector<Type> wanted;
  for (size_t i = 0; i < types.size(); ++i)
    if (wants(i)) wanted.push_back(types[i]);
  const Expr kept = around_.keep(*this, wanted);
  Values results;
  for (size_t i = 0, next = 0; i < types.size(); ++i) {
    if (!wants(i))
      results.emplace_back();
    else
      results.emplace_back(wanted.size() == 1 ? kept : item(kept, static_cast<int>(next++)));
  }
  return results;
}

Values Conversion::later(int rank, DType dtype) const {
  if (rank < 0 || rank > kMostAxes) throw error("its result would have " + std::to_string(rank) + " axes");
  return later({baton::tensor_type(std::vector<Dim>(static_cast<size_t>(rank), Dim::any()), dtype)});
}

// ---- Attributes.

const AttributeFile* Conversion::attribute(std::string_view name, AttributeFile::Kind kind) const {
  const AttributeFile* found = node.attribute(name);
  if (found && found->kind != kind)
    throw error("attribute `" + std::string(name) + "` is " + kind_name(found->kind) + ", and should be " +
                kind_name(kind));
  return found;
}

int64_t Conversion::integer(std::string_view name, int64_t otherwise) const {
  const AttributeFile* found = attribute(name, AttributeFile::Kind::kInt);
  return found ? found->i : otherwise;
}
int64_t Conversion::required_integer(std::string_view name) const {
  if (const AttributeFile* found = attribute(name, AttributeFile::Kind::kInt)) return found->i;
  throw error("attribute `" + std::string(name) + "` is missing");
}
double Conversion::number(std::string_view name, double otherwise) const {
  const AttributeFile* found = attribute(name, AttributeFile::Kind::kFloat);
  return found ? static_cast<double>(found->f) : otherwise;
}
DType Conversion::element_type(std::string_view name, DType otherwise) const {
  const AttributeFile* found = attribute(name, AttributeFile::Kind::kInt);
  if (!found || found->i == 0) return otherwise;
  const auto element = static_cast<Element>(found->i);
  const std::optional<DType> dtype = dtype_of(element);
  if (!dtype || is_packed(element)) throw not_supported("results of type " + element_name(element));
  return *dtype;
}
std::string Conversion::text(std::string_view name, std::string_view otherwise) const {
  const AttributeFile* found = attribute(name, AttributeFile::Kind::kString);
  return std::string(found ? found->s : otherwise);
}
std::optional<std::vector<int64_t>> Conversion::integers_of(std::string_view name) const {
  const AttributeFile* found = attribute(name, AttributeFile::Kind::kInts);
  if (!found) return std::nullopt;
  if (std::ranges::count(kOfWindows, name))
    for (const int64_t value : found->ints)
      if (value > kMostOfWindows || value < -kMostOfWindows)
        throw error("attribute `" + std::string(name) + "` has the element " + std::to_string(value) +
                    ", and the largest is " + std::to_string(kMostOfWindows));
  return found->ints;
}
std::optional<std::vector<double>> Conversion::numbers_of(std::string_view name) const {
  const AttributeFile* found = attribute(name, AttributeFile::Kind::kFloats);
  if (!found) return std::nullopt;
  return std::vector<double>(found->floats.begin(), found->floats.end());
}

const AttributeFile& Conversion::required_graph(std::string_view name) const {
  if (const AttributeFile* found = attribute(name, AttributeFile::Kind::kGraph);
      found && !found->graphs.empty())
    return *found;
  throw error("the graph `" + std::string(name) + "` is missing");
}

// ---- Building.

Expr Conversion::call(std::string_view op, std::vector<Expr> args, const NamedAttrs& attrs) const {
  return infer_type(Expr(call_op(op, std::move(args), attrs)));
}

Expr Conversion::constant(NDArray value) const { return infer_type(Expr(baton::constant(std::move(value)))); }

Expr Conversion::scalar(double value, DType dtype) const {
  return infer_type(Expr(baton::scalar(value, dtype)));
}

Expr Conversion::vector(const std::vector<int64_t>& values, DType dtype) const {
  const auto count = static_cast<int64_t>(values.size());
  if (dtype == DType::int_(64)) return constant(NDArray::of<int64_t>({count}, values, dtype));
  std::vector<int32_t> narrow(values.begin(), values.end());
  return constant(NDArray::of<int32_t>({count}, narrow, DType::int_(32)));
}

Expr Conversion::item(const Expr& of, int index) const { return infer_type(get_item(of, index)); }

Expr Conversion::cast(const Expr& value, DType dtype) const {
  return tensor_type(value).dtype() == dtype ? value : call("cast", {value}, {{"dtype", dtype}});
}

Expr Conversion::reshape(const Expr& value, const std::vector<int64_t>& shape) const {
  return call("reshape", {value}, {{"newshape", shape}});
}

Expr Conversion::transpose(const Expr& value, const std::vector<int64_t>& axes) const {
  bool is_identity = true;
  for (size_t i = 0; i < axes.size(); ++i) is_identity &= axes[i] == static_cast<int64_t>(i);
  return is_identity ? value : call("transpose", {value}, {{"axes", axes}});
}

Expr Conversion::at_rank(const Expr& value, int rank) const {
  const int missing = rank - tensor_type(value).rank();
  return missing <= 0 ? value : call("expand_dims", {value}, {{"axis", 0}, {"num_newaxis", missing}});
}

// ---- Errors.

NodeError Conversion::error(const std::string& why) const {
  return NodeError(around_.place(node) + ": " + why);
}
NotSupported Conversion::not_supported(const std::string& what) const {
  return NotSupported(around_.place(node) + ": " + what + " are not supported");
}

size_t Conversion::table_size(std::initializer_list<int64_t> extents) const {
  int64_t size = 1;
  for (const int64_t extent : extents)
    if (extent < 0 || __builtin_mul_overflow(size, extent, &size) || size > kMostOfTable)
      throw not_supported("sizes for which tables of more than " + std::to_string(kMostOfTable) +
                          " numbers are made");
  return static_cast<size_t>(size);
}

int Conversion::axis(int64_t axis, int rank) const {
  if (axis < -rank || axis >= rank)
    throw error("axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::vector<int64_t> Conversion::axes(std::vector<int64_t> all, int rank) const {
  for (int64_t& each : all) each = axis(each, rank);
  std::ranges::sort(all);
  if (std::ranges::adjacent_find(all) != all.end()) throw error("an axis is given twice");
  return all;
}

}  // namespace baton::onnx
