#include "baton/text/metadata.h"

#include <algorithm>
#include <cstdio>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "baton/ir/attr_objects.h"
#include "baton/support/error.h"
#include "baton/text/json/tensor_bytes.h"
#include "baton/text/json/tvm_nodes.h"

namespace baton::text {

// ---- Reading

namespace {

class Nodes final : public TvmNodes {
 public:
  using TvmNodes::TvmNodes;

 private:
  std::optional<AttrValue> object(Index node) override {
    const std::string key = type_key(node);
    if (key == "relay.Constant")
      return expr_attr(Expr(make_constant(tensor(node), NodeInfo(OriginSet::none()))));
    if (key == "relay.Var")
      return expr_attr(Expr(make_var(text(need(node, "vid"), "name_hint"), {}, NodeInfo(OriginSet::none()))));
    return std::nullopt;
  }
};

}  // namespace

struct MetadataReader::Graph {
  JsonTape tape;
  Nodes nodes;
  std::unordered_map<std::string, std::vector<Nodes::Index>> objects = {};  // by type key

  explicit Graph(std::string_view text) : tape(text, {}), nodes(tape, text.size() + 1000) {
    for (const auto& [key, list] : nodes.map(nodes.root())) objects[key] = nodes.list(list);
  }
};

MetadataReader::MetadataReader(std::string_view text) : graph_(std::make_unique<Graph>(text)) {}
MetadataReader::~MetadataReader() = default;

size_t MetadataReader::count(const std::string& type_key) const {
  const auto at = graph_->objects.find(type_key);
  return at == graph_->objects.end() ? 0 : at->second.size();
}

NDArray MetadataReader::constant(size_t index) const {
  return graph_->nodes.tensor(graph_->objects.at("relay.Constant").at(index));
}

AttrValue MetadataReader::value(const std::string& type_key, size_t index) const {
  return graph_->nodes.value(graph_->objects.at(type_key).at(index));
}

Attrs MetadataReader::attrs(const AttrSchema& schema, size_t index) const {
  return graph_->nodes.attrs(graph_->objects.at(schema.type_key).at(index), schema);
}

// ---- Writing

namespace {

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

// The nodes of the JSON, numbered in the order of a depth-first walk from the root: the map, then for each
// key its array and the objects in it. All constants share one VirtualDevice ("none") and its empty scope
// name.
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
    nodes_[1] = "      \"type_key\": \"Map\", \n      \"keys\": [\n" + keys +
                "\n      ], \n      \"data\": " + indices(lists) + "\n";
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
    return "      \"type_key\": \"Array\"" +
           (members.empty() ? "\n" : ", \n      \"data\": " + indices(members) + "\n");
  }
  static std::string object(const std::string& type_key, const Fields& fields) {
    std::string text = "      \"type_key\": \"" + type_key + "\"";
    if (fields.empty()) return text + "\n";
    text += ", \n      \"attrs\": {";
    for (size_t i = 0; i < fields.size(); ++i) {
      if (fields.size() > 1) text += i ? ", \n        " : "\n        ";
      text += "\"" + fields[i].first + "\": " + quoted(fields[i].second);
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
    if (!text.empty()) nodes_[at] += ", \n      \"repr_str\": " + quoted(text);
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
      nodes_[id] =
          object("relay.Id", {{"name_hint", std::to_string(add_string(as<VarNode>(expr->expr())->name()))}});
      nodes_[at] = object("relay.Var", {{"_checked_type_", "0"},
                                        {"span", "0"},
                                        {"type_annotation", "0"},
                                        {"vid", std::to_string(id)},
                                        {"virtual_device_", std::to_string(no_device())}});
      return at;
    }
    throw Error("an attribute holds a " + of.type_key() +
                ", which has no form in a text's metadata: print without it");
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
      nodes_[at] = object(
          "IntImm", {{"dtype", value.as<bool>() ? "bool" : "int32"}, {"span", "0"}, {"value", plain(value)}});
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
