#include "baton/text/json/tvm_nodes.h"

#include <charconv>
#include <cstdlib>
#include <limits>

#include "baton/ir/attr_objects.h"
#include "baton/support/error.h"
#include "baton/text/json/tensor_bytes.h"

namespace baton::text {

namespace {

constexpr int kMaxNesting = 100;  // of nested lists

/// Whether `text` as a whole is one number.
template <class T>
bool is_number(std::string_view text, T& number) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && error == std::errc() && stop == text.data() + text.size();
}

double real(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (copy.empty() || end != copy.c_str() + copy.size())
    throw Error("expected a number, found " + copy.substr(0, 40));
  return value;
}

}  // namespace

TvmNodes::TvmNodes(const JsonTape& tape, size_t values) : tape_(tape), values_left_(values) {
  tape.each(member(JsonTape::kRoot, "nodes"), [&](At at) { nodes_.push_back(at); });
  if (const auto blobs = find(JsonTape::kRoot, "b64ndarrays"))
    tape.each(*blobs, [&](At at) { blobs_.push_back(at); });
}

// ---- Members of objects

std::optional<TvmNodes::At> TvmNodes::find(At object, std::string_view name) const {
  const std::optional<uint32_t> key = tape_.key_of(name);
  return key ? tape_.find(object, *key) : std::nullopt;
}

TvmNodes::At TvmNodes::member(At object, std::string_view name) const {
  const std::optional<At> at = find(object, name);
  if (!at) throw Error("`" + std::string(name) + "` is missing");
  return *at;
}

int64_t TvmNodes::integer(At at) const {
  if (tape_.is(at, JsonTape::Kind::kInt)) return tape_.integer(at);
  int64_t value = 0;
  if (!is_number(tape_.string(at), value)) throw Error("expected an integer, found " + tape_.shown(at));
  return value;
}

int TvmNodes::small(At at) const {
  const int64_t value = integer(at);
  if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max())
    throw Error(std::to_string(value) + " is out of range");
  return static_cast<int>(value);
}

TvmNodes::Index TvmNodes::index(At at) const {
  const int64_t value = integer(at);
  if (value < 0 || static_cast<uint64_t>(value) >= nodes_.size())
    throw Error("there is no node " + std::to_string(value));
  return static_cast<Index>(value);
}

std::string TvmNodes::text(At at) const {
  const std::string_view text = tape_.string(at);
  Index number = 0;
  if (is_number(text, number) && number < nodes_.size() && type_key(number) == "runtime.String")
    return repr(number);
  return std::string(text);
}

// ---- Nodes

std::string TvmNodes::type_key(Index node) const {
  return std::string(tape_.string(member(nodes_[node], "type_key")));
}

std::string TvmNodes::repr(Index node) const {
  const std::optional<At> at = find(nodes_[node], "repr_str");
  return at ? std::string(tape_.string(*at)) : std::string();
}

std::optional<TvmNodes::At> TvmNodes::find_attr(Index node, std::string_view name) const {
  const std::optional<At> attrs = find(nodes_[node], "attrs");
  return attrs ? find(*attrs, name) : std::nullopt;
}

TvmNodes::At TvmNodes::attr(Index node, std::string_view name) const {
  const std::optional<At> at = find_attr(node, name);
  if (!at) throw Error("`" + std::string(name) + "` is missing");
  return *at;
}

std::optional<TvmNodes::Index> TvmNodes::ref(Index node, std::string_view name) const {
  const std::optional<At> at = find_attr(node, name);
  if (!at) return std::nullopt;
  const Index found = index(*at);
  if (type_key(found).empty()) return std::nullopt;
  return found;
}

TvmNodes::Index TvmNodes::need(Index node, std::string_view name) const {
  const std::optional<Index> found = ref(node, name);
  if (!found) throw Error("`" + std::string(name) + "` is missing");
  return *found;
}

// ---- Lists

void TvmNodes::spend(size_t values) {
  if (values > values_left_) throw Error("the lists of this program are too large together");
  values_left_ -= values;
}

std::vector<TvmNodes::Index> TvmNodes::items(Index node) {
  std::vector<Index> found;
  const std::optional<At> data = find(nodes_[node], "data");
  if (!data) return found;  // empty
  tape_.need(*data, JsonTape::Kind::kArray);
  spend(tape_.size(*data));
  tape_.each(*data, [&](At at) { found.push_back(index(at)); });
  return found;
}

std::vector<TvmNodes::Index> TvmNodes::list(Index node) {
  if (type_key(node) != "Array") throw Error("expected an Array, found a " + type_key(node));
  return items(node);
}

std::vector<TvmNodes::Index> TvmNodes::list(Index node, std::string_view name) {
  const std::optional<Index> array = ref(node, name);
  return array ? list(*array) : std::vector<Index>();
}

std::vector<std::pair<std::string, TvmNodes::Index>> TvmNodes::map(Index node) {
  if (type_key(node) != "Map") throw Error("expected a Map, found a " + type_key(node));
  const std::vector<Index> values = items(node);
  std::vector<std::pair<std::string, Index>> found;
  if (const auto keys = find(nodes_[node], "keys")) {
    tape_.each(*keys, [&](At at) { found.emplace_back(tape_.string(at), 0); });
    if (found.size() != values.size())
      throw Error("a Map has " + std::to_string(found.size()) + " keys and " + std::to_string(values.size()) +
                  " values");
    for (size_t i = 0; i < found.size(); ++i) found[i].second = values[i];
    return found;
  }
  if (values.size() % 2) throw Error("a Map has a key without a value");
  for (size_t i = 0; i < values.size(); i += 2) {
    const std::string key =
        type_key(values[i]) == "runtime.String" ? repr(values[i]) : text(values[i], "name_hint");
    found.emplace_back(key, values[i + 1]);
  }
  return found;
}

// ---- Values

const NDArray& TvmNodes::tensor(Index constant) {
  const int64_t at = integer(attr(constant, "data"));
  if (at < 0 || static_cast<uint64_t>(at) >= blobs_.size())
    throw Error("there is no tensor " + std::to_string(at));
  NDArray& array = tensors_[static_cast<size_t>(at)];
  if (array.defined()) return array;
  const std::optional<std::string> bytes = base64_decode(tape_.string(blobs_[static_cast<size_t>(at)]));
  if (!bytes) throw Error("tensor " + std::to_string(at) + " is not base64");
  return array = array_from_bytes(*bytes);
}

AttrValue TvmNodes::value(Index node, int depth) {
  if (depth > kMaxNesting) throw Error("lists are nested more than " + std::to_string(kMaxNesting) + " deep");
  spend(1);
  const std::string key = type_key(node);
  if (key.empty()) return {};
  if (key == "IntImm") {
    const int64_t number = integer(attr(node, "value"));
    return text(node, "dtype") == "bool" ? AttrValue(number != 0) : AttrValue(number);
  }
  if (key == "FloatImm") return AttrValue(real(tape_.string(attr(node, "value"))));
  if (key == "runtime.String") return AttrValue(repr(node));
  if (key == "Array") {
    AttrList list;
    for (const Index each : items(node)) list.push_back(value(each, depth + 1));
    return AttrValue(std::move(list));
  }
  if (key == "VirtualDevice") {
    VirtualDevice device;
    device.device_type = small(attr(node, "device_type_int"));
    device.device_id = small(attr(node, "virtual_device_id"));
    device.memory_scope = text(node, "memory_scope");
    return virtual_device_attr(std::move(device));
  }
  if (std::optional<AttrValue> found = object(node)) return *std::move(found);
  throw Error("objects of type " + key.substr(0, 80) + " are not known");
}

Dim TvmNodes::extent(Index node, int depth) {
  if (depth > kMaxNesting)
    throw Error("an extent is nested more than " + std::to_string(kMaxNesting) + " deep");
  const std::string key = type_key(node);
  if (key == "tir.Any" || key == "Any") return Dim::any();
  if (key == "IntImm") {
    const int64_t value = integer(attr(node, "value"));
    if (Dim(value).is_any()) throw Error("the extent " + std::to_string(value) + " is out of range");
    return value;
  }
  if (const auto known = extents_.find(node); known != extents_.end()) return known->second;
  Dim made = 0;
  if (key == "tir.Var" || key == "tir.SizeVar") {
    const std::optional<DType> dtype = DType::parse(text(node, "dtype"));
    if (!dtype || !dtype->is_int())
      throw Error("the variable of an extent is of type " + text(node, "dtype").substr(0, 80));
    made = extent_var({text(node, "name"), *dtype, key == "tir.SizeVar"});
  } else {
    static const std::unordered_map<std::string, ExtentOp> operations = {
        {"tir.Add", ExtentOp::kAdd},
        {"tir.Sub", ExtentOp::kSub},
        {"tir.Mul", ExtentOp::kMul},
        {"tir.FloorDiv", ExtentOp::kFloorDiv}};
    const auto operation = operations.find(key);
    if (operation == operations.end())
      throw Error("an extent is a " + key.substr(0, 80) +
                  ", not a number, a variable, or a sum, product or quotient of them");
    const Dim a = extent(need(node, "a"), depth + 1), b = extent(need(node, "b"), depth + 1);
    made = make_extent({operation->second, a, b});
  }
  extents_.emplace(node, made);
  return made;
}

// A value inside the attributes' node, in the form of the field.
AttrValue TvmNodes::plain_value(At at, const AttrValue& form) const {
  if (form.as<bool>()) return AttrValue(integer(at) != 0);
  if (form.as<int64_t>()) return AttrValue(integer(at));
  if (form.as<double>())
    return tape_.is(at, JsonTape::Kind::kString) ? AttrValue(real(tape_.string(at)))
                                                 : AttrValue(tape_.real(at));
  return AttrValue(text(at));
}

Attrs TvmNodes::attrs(Index node, const AttrSchema& schema) {
  Ref<AttrsNode> made = schema.make();
  const std::optional<At> fields = find(nodes_[node], "attrs");
  if (!fields) return made;
  tape_.members(*fields, [&](uint32_t name, At at) {
    const AttrField* field = schema.find(tape_.key_text(name));
    if (!field) throw Error(schema.type_key + " has no field `" + tape_.key_text(name).substr(0, 80) + "`");
    const AttrValue found = field->boxed ? value(index(at)) : plain_value(at, field->get(made->data()));
    if (!field->set(made->data(), found))
      throw Error("field `" + field->name + "` of " + schema.type_key + " expects " + field->type->expects +
                  ", found " + attr_text(found).substr(0, 80));
  });
  return made;
}

}  // namespace baton::text
