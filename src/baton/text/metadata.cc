#include "baton/text/metadata.h"

#include <charconv>
#include <cstdlib>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "baton/ir/attr_objects.h"
#include "baton/support/error.h"
#include "baton/text/tensor_bytes.h"

namespace baton::text {

namespace {

using Json = nlohmann::json;

constexpr int kMaxNesting = 100;  // of arrays in arrays

const Json& member(const Json& object, const char* name) {
  const auto at = object.is_object() ? object.find(name) : object.end();
  if (!object.is_object() || at == object.end()) throw Error(std::string("`") + name + "` is missing");
  return *at;
}

std::string shown(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 40);
}

// TVM writes numbers as numbers or as strings, depending on where they stand.
size_t number(const Json& value) {
  if (value.is_number_unsigned()) return value.get<size_t>();
  const std::string* text = value.get_ptr<const std::string*>();
  if (!text || text->empty() || text->size() > 9 ||
      text->find_first_not_of("0123456789") != std::string::npos)
    throw Error("expected an index, found " + shown(value));
  return std::stoul(*text);
}

const std::string& text_of(const Json& value) {
  const std::string* text = value.get_ptr<const std::string*>();
  if (!text) throw Error("expected a string, found " + shown(value));
  return *text;
}

int64_t integer(const std::string& text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) throw Error("expected an integer, found " + text.substr(0, 40));
  return value;
}

double real(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != 0) throw Error("expected a number, found " + text.substr(0, 40));
  return value;
}

}  // namespace

// ---- Reading

struct MetadataReader::Graph {
  Json json;
  std::unordered_map<std::string, std::vector<size_t>> objects;  // type key -> node numbers
  mutable size_t values_left = 0;  // arrays may be shared: bounds what they are when written out

  const Json& node(size_t index) const {
    const Json& nodes = member(json, "nodes");
    if (!nodes.is_array() || index >= nodes.size()) throw Error("there is no node " + std::to_string(index));
    return nodes[index];
  }
  std::string type_key(size_t index) const { return text_of(member(node(index), "type_key")); }
  const std::string& attr(size_t index, const char* name) const { return text_of(member(member(node(index), "attrs"), name)); }

  NDArray array(size_t index) const {
    const size_t blob = number(member(member(node(index), "attrs"), "data"));
    const Json& blobs = member(json, "b64ndarrays");
    if (!blobs.is_array() || blob >= blobs.size()) throw Error("there is no tensor " + std::to_string(blob));
    const std::optional<std::string> bytes = base64_decode(text_of(blobs[blob]));
    if (!bytes) throw Error("tensor " + std::to_string(blob) + " is not base64");
    return array_from_bytes(*bytes);
  }

  std::string string(size_t index) const {
    const Json& of = node(index);
    const auto at = of.find("repr_str");
    return at == of.end() ? std::string() : text_of(*at);
  }

  // A node as the value of an attribute.
  AttrValue value(size_t index, int depth = 0) const {
    if (values_left == 0) throw Error("the values of this section are too large together");
    --values_left;
    if (depth > kMaxNesting) throw Error("values are nested more than " + std::to_string(kMaxNesting) + " deep");
    const std::string key = type_key(index);
    if (key.empty()) return {};
    if (key == "IntImm") {
      const int64_t number = integer(attr(index, "value"));
      return attr(index, "dtype") == "bool" ? AttrValue(number != 0) : AttrValue(number);
    }
    if (key == "FloatImm") return AttrValue(real(attr(index, "value")));
    if (key == "runtime.String") return AttrValue(string(index));
    if (key == "Array") {
      AttrList list;
      const Json& of = node(index);
      if (const auto data = of.find("data"); data != of.end())
        for (const Json& item : *data) list.push_back(value(number(item), depth + 1));
      return AttrValue(std::move(list));
    }
    if (key == "relay.Constant")
      return expr_attr(Expr(make_constant(array(index), NodeInfo(OriginSet::none()))));
    if (key == "relay.Var") {
      const size_t id = number(member(member(node(index), "attrs"), "vid"));
      return expr_attr(Expr(make_var(string(number(member(member(node(id), "attrs"), "name_hint"))), {}, NodeInfo(OriginSet::none()))));
    }
    if (key == "VirtualDevice") {
      VirtualDevice device;
      device.device_type = static_cast<int>(integer(attr(index, "device_type_int")));
      device.device_id = static_cast<int>(integer(attr(index, "virtual_device_id")));
      device.memory_scope = string(number(member(member(node(index), "attrs"), "memory_scope")));
      return virtual_device_attr(std::move(device));
    }
    throw Error("objects of type " + key + " are not known");
  }

  // A value that stands in the attributes' node itself, in the form that the field has.
  AttrValue plain_value(const std::string& text, const AttrValue& form) const {
    if (form.as<bool>()) return AttrValue(integer(text) != 0);
    if (form.as<int64_t>()) return AttrValue(integer(text));
    if (form.as<double>()) return AttrValue(real(text));
    // A string may be a node of its own; names of layouts and modes are never numbers.
    if (!text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos) {
      const size_t index = std::stoul(text);
      const Json& nodes = member(json, "nodes");
      if (index < nodes.size() && type_key(index) == "runtime.String") return AttrValue(string(index));
    }
    return AttrValue(text);
  }
};

MetadataReader::MetadataReader(std::string_view text) : graph_(std::make_unique<Graph>()) {
  graph_->values_left = text.size() + 1000;
  try {
    graph_->json = Json::parse(text.begin(), text.end());
  } catch (const Json::exception& error) {
    throw Error(error.what());
  }
  const Json& map = graph_->node(number(member(graph_->json, "root")));
  const Json &keys = member(map, "keys"), &data = member(map, "data");
  if (!keys.is_array() || !data.is_array() || keys.size() != data.size())
    throw Error("the root is not a map");
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::string* key = keys[i].get_ptr<const std::string*>();
    if (!key) throw Error("a key of the root is not a string");
    const Json& list = graph_->node(number(data[i]));
    if (!list.contains("data")) continue;  // an empty array
    for (const Json& item : member(list, "data")) graph_->objects[*key].push_back(number(item));
  }
}

MetadataReader::~MetadataReader() = default;

size_t MetadataReader::count(const std::string& type_key) const {
  const auto at = graph_->objects.find(type_key);
  return at == graph_->objects.end() ? 0 : at->second.size();
}

NDArray MetadataReader::constant(size_t index) const {
  return graph_->array(graph_->objects.at("relay.Constant").at(index));
}

AttrValue MetadataReader::value(const std::string& type_key, size_t index) const {
  return graph_->value(graph_->objects.at(type_key).at(index));
}

Attrs MetadataReader::attrs(const AttrSchema& schema, size_t index) const {
  Ref<AttrsNode> attrs = schema.make();
  const Json& node = graph_->node(graph_->objects.at(schema.type_key).at(index));
  const auto values = node.find("attrs");
  if (values == node.end()) return attrs;
  if (!values->is_object()) throw Error("`attrs` is no object: " + shown(*values));
  for (const auto& [name, json] : values->items()) {
    const AttrField* field = schema.find(name);
    if (!field) throw Error(schema.type_key + " has no field `" + name + "`");
    const std::string& text = text_of(json);
    const AttrValue value = field->boxed ? graph_->value(number(json)) : graph_->plain_value(text, field->get(attrs->data()));
    if (!field->set(attrs->data(), value)) throw Error("field `" + name + "` of " + schema.type_key + " is " + attr_text(value));
  }
  return attrs;
}

// ---- Writing

// The nodes of the JSON, numbered in the order of a depth-first walk from the root: the map, then for each key its
// array and the objects in it. All constants share one VirtualDevice ("none") and its empty scope name.
class MetadataNodes {
 public:
  explicit MetadataNodes(const std::vector<MetadataWriter::Objects>& all) {
    nodes_ = {"      \"type_key\": \"\"\n", ""};
    std::string keys;
    std::vector<size_t> lists;
    for (const auto& objects : all) {
      keys += (keys.empty() ? "        \"" : ", \n        \"") + objects.type_key + "\"";
      const size_t list = reserve();
      lists.push_back(list);
      std::vector<size_t> members;
      for (const auto& object : objects.objects) members.push_back(add(object));
      nodes_[list] = array(members);
    }
    nodes_[1] = "      \"type_key\": \"Map\", \n      \"keys\": [\n" + keys + "\n      ], \n      \"data\": " + indices(lists) + "\n";
  }

  std::string json() const {
    std::string out = "{\n  \"root\": 1, \n  \"nodes\": [\n";
    for (size_t i = 0; i < nodes_.size(); ++i) out += (i ? ", \n    {\n" : "    {\n") + nodes_[i] + "    }";
    out += "\n  ], \n  \"b64ndarrays\": [" + blobs_ + (blobs_.empty() ? "]" : "\n  ]");
    return out + ", \n  \"attrs\": {\"tvm_version\": \"0.11.1\"}\n}";
  }

 private:
  using Fields = std::vector<std::pair<std::string, std::string>>;  // sorted by name

  size_t reserve() {
    nodes_.emplace_back();
    return nodes_.size() - 1;
  }

  static std::string indices(const std::vector<size_t>& of) {
    std::string text = "[";
    for (size_t i = 0; i < of.size(); ++i) text += (i ? ", " : "") + std::to_string(of[i]);
    return text + "]";
  }
  static std::string array(const std::vector<size_t>& members) {
    return "      \"type_key\": \"Array\"" + (members.empty() ? "\n" : ", \n      \"data\": " + indices(members) + "\n");
  }
  static std::string object(const std::string& type_key, const Fields& fields) {
    std::string text = "      \"type_key\": \"" + type_key + "\"";
    if (fields.empty()) return text + "\n";
    text += ", \n      \"attrs\": {";
    for (size_t i = 0; i < fields.size(); ++i) {
      if (fields.size() > 1) text += i ? ", \n        " : "\n        ";
      text += "\"" + fields[i].first + "\": " + nlohmann::json(fields[i].second).dump(-1, ' ', false, Json::error_handler_t::replace);
    }
    return text + (fields.size() > 1 ? "\n      }\n" : "}\n");
  }

  size_t add(const MetadataWriter::Object& of) {
    if (of.attrs) return add_attrs(*of.attrs);
    if (of.object) return add_object(*of.object);
    if (of.value.defined()) return add_constant(of.value);
    const size_t at = reserve();
    nodes_[at] = object("IncompleteType", {{"kind", "0"}, {"span", "0"}});
    return at;
  }

  size_t add_string(const std::string& text) {
    const size_t at = reserve();
    nodes_[at] = "      \"type_key\": \"runtime.String\"";
    if (!text.empty()) nodes_[at] += ", \n      \"repr_str\": " + nlohmann::json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
    nodes_[at] += "\n";
    return at;
  }

  size_t add_device(const VirtualDevice& device) {
    const size_t at = reserve();
    const size_t scope = add_string(device.memory_scope);
    nodes_[at] = object("VirtualDevice", {{"device_type_int", std::to_string(device.device_type)},
                                          {"memory_scope", std::to_string(scope)},
                                          {"target", "0"},
                                          {"virtual_device_id", std::to_string(device.device_id)}});
    return at;
  }
  size_t no_device() {
    if (!no_device_) no_device_ = add_device({});
    return no_device_;
  }

  size_t add_constant(const NDArray& value) {
    const size_t at = reserve(), device = no_device();
    nodes_[at] = object("relay.Constant", {{"_checked_type_", "0"},
                                           {"data", std::to_string(blob_count_)},
                                           {"span", "0"},
                                           {"virtual_device_", std::to_string(device)}});
    blobs_ += (blob_count_++ ? ", \n    \"" : "\n    \"") + base64_encode(array_to_bytes(value)) + "\"";
    return at;
  }

  size_t add_object(const AttrObject& of) {
    if (const auto* device = dynamic_cast<const VirtualDeviceAttr*>(&of)) return add_device(device->device());
    const auto* expr = dynamic_cast<const ExprAttr*>(&of);
    if (expr && as<ConstantNode>(expr->expr())) return add_constant(as<ConstantNode>(expr->expr())->value());
    if (expr && as<VarNode>(expr->expr())) {
      const size_t at = reserve(), id = reserve();
      nodes_[id] = object("relay.Id", {{"name_hint", std::to_string(add_string(as<VarNode>(expr->expr())->name()))}});
      nodes_[at] = object("relay.Var", {{"_checked_type_", "0"},
                                        {"span", "0"},
                                        {"type_annotation", "0"},
                                        {"vid", std::to_string(id)},
                                        {"virtual_device_", std::to_string(no_device())}});
      return at;
    }
    throw Error("an attribute holds a " + of.type_key() + ", which has no form in a text's metadata: print without it");
  }

  // A value as a node of its own.
  size_t add_value(const AttrValue& value) {
    if (value.is_none()) return 0;
    if (const std::string* text = value.as<std::string>()) return add_string(*text);
    if (const AttrObjectRef* of = value.as<AttrObjectRef>()) return add_object(*of->object);
    const size_t at = reserve();
    if (const AttrList* list = value.as<AttrList>()) {
      std::vector<size_t> members;
      for (const AttrValue& item : *list) members.push_back(add_value(item));
      nodes_[at] = array(members);
    } else if (value.as<double>()) {
      nodes_[at] = object("FloatImm", {{"dtype", "float32"}, {"span", "0"}, {"value", plain(value)}});
    } else {
      nodes_[at] = object("IntImm", {{"dtype", value.as<bool>() ? "bool" : "int32"}, {"span", "0"}, {"value", plain(value)}});
    }
    return at;
  }

  // A value inside the attributes' node.
  static std::string plain(const AttrValue& value) {
    if (const bool* flag = value.as<bool>()) return *flag ? "1" : "0";
    if (const int64_t* number = value.as<int64_t>()) return std::to_string(*number);
    if (const std::string* text = value.as<std::string>()) return *text;
    if (const DType* dtype = value.as<DType>()) return dtype->str();
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.17g", *value.as<double>());
    return digits;
  }

  size_t add_attrs(const AttrsNode& attrs) {
    const size_t at = reserve();
    Fields fields;
    for (const AttrField& field : attrs.schema().fields) {
      const AttrValue value = field.get(attrs.data());
      fields.emplace_back(field.name, field.boxed ? std::to_string(add_value(value)) : plain(value));
    }
    std::sort(fields.begin(), fields.end());
    nodes_[at] = object(attrs.schema().type_key, fields);
    return at;
  }

  std::vector<std::string> nodes_;
  std::string blobs_;
  size_t blob_count_ = 0, no_device_ = 0;
};

size_t MetadataWriter::add(const std::string& type_key, Object object) {
  for (Objects& objects : objects_) {
    if (objects.type_key != type_key) continue;
    objects.objects.push_back(std::move(object));
    return objects.objects.size() - 1;
  }
  objects_.push_back({type_key, {std::move(object)}});
  return 0;
}

std::string MetadataWriter::json() const { return MetadataNodes(objects_).json(); }

}  // namespace baton::text
