#include "baton/text/metadata.h"

#include <algorithm>
#include <cstdio>
#include <unordered_map>

#include "baton/ir/attr_objects.h"
#include "baton/support/error.h"
#include "baton/support/json_writer.h"
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

Dim MetadataReader::extent(const std::string& type_key, size_t index) const {
  return graph_->nodes.extent(graph_->objects.at(type_key).at(index));
}

Attrs MetadataReader::attrs(const AttrSchema& schema, size_t index) const {
  return graph_->nodes.attrs(graph_->objects.at(schema.type_key).at(index), schema);
}

// ---- Writing

// Builds the JSON nodes, numbered in depth-first pre-order: the map, then for each key its array and the
// objects in it. All constants share one VirtualDevice ("none") and its empty scope name.
class MetadataNodes {
 public:
  explicit MetadataNodes(const std::vector<MetadataWriter::Objects>& all) {
    nodes_.resize(2);
    for (const auto& objects : all) {
      nodes_[1].keys.push_back(objects.type_key);
      const size_t list = reserve();
      nodes_[1].data.push_back(list);
      std::vector<size_t> members;
      for (const auto& object : objects.objects) members.push_back(add(object));
      nodes_[list] = array(std::move(members));
    }
    nodes_[1].type_key = "Map";
  }

  std::string json() const {
    JsonWriter json;
    json.begin_object();
    json.key("root");
    json.value(1);
    json.key("nodes");
    json.begin_array();
    for (const Node& node : nodes_) {
      json.item();
      write(json, node);
    }
    json.end_array();
    json.key("b64ndarrays");
    json.value(blobs_);
    json.key("attrs");
    write(json, Fields{{"tvm_version", "0.11.1"}});
    json.end_object();
    return json.take();
  }

 private:
  using Fields = std::vector<std::pair<std::string, std::string>>;  // sorted by name

  struct Node {
    std::string type_key;
    Fields attrs;
    std::vector<std::string> keys;  // of the map
    std::vector<size_t> data;       // other nodes
    std::string repr_str;
  };

  size_t reserve() {
    nodes_.emplace_back();
    return nodes_.size() - 1;
  }

  static void write(JsonWriter& json, const Fields& fields) {
    json.begin_object(fields.size() > 1);
    for (const auto& [name, value] : fields) {
      json.key(name);
      json.value(value);
    }
    json.end_object();
  }

  static void write(JsonWriter& json, const Node& node) {
    json.begin_object();
    json.key("type_key");
    json.value(node.type_key);
    if (!node.keys.empty()) {
      json.key("keys");
      json.value(node.keys);
    }
    if (!node.data.empty()) {
      json.key("data");
      json.begin_array(/*multi_line=*/false);
      for (const size_t index : node.data) {
        json.item();
        json.value(static_cast<int64_t>(index));
      }
      json.end_array();
    }
    if (!node.attrs.empty()) {
      json.key("attrs");
      write(json, node.attrs);
    }
    if (!node.repr_str.empty()) {
      json.key("repr_str");
      json.value(node.repr_str);
    }
    json.end_object();
  }

  static Node array(std::vector<size_t> members) { return {"Array", {}, {}, std::move(members), {}}; }
  static Node object(std::string type_key, Fields fields) {
    return {std::move(type_key), std::move(fields), {}, {}, {}};
  }

  size_t add(const MetadataWriter::Object& of) {
    if (of.attrs) return add_attrs(*of.attrs);
    if (of.object) return add_object(*of.object);
    if (of.extent.is_symbolic()) return add_extent(of.extent);
    if (of.value.defined()) return add_constant(of.value);
    const size_t at = reserve();
    nodes_[at] = object("IncompleteType", {{"kind", "0"}, {"span", "0"}});
    return at;
  }

  size_t add_string(const std::string& text) {
    const size_t at = reserve();
    nodes_[at].type_key = "runtime.String";
    nodes_[at].repr_str = text;
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
                                           {"data", std::to_string(blobs_.size())},
                                           {"span", "0"},
                                           {"virtual_device_", std::to_string(device)}});
    blobs_.push_back(base64_encode(array_to_bytes(value)));
    return at;
  }

  // A variable is one node, wherever it stands.
  size_t add_extent(Dim dim) {
    const auto number = [](size_t node) { return std::to_string(node); };
    if (!dim.is_any()) {
      const size_t at = reserve();
      nodes_[at] =
          object("IntImm", {{"dtype", "int32"}, {"span", "0"}, {"value", std::to_string(dim.value())}});
      return at;
    }
    if (const auto known = extents_.find(dim.symbol_id()); known != extents_.end()) return known->second;
    const size_t at = reserve();
    const std::string dtype = extent_dtype(dim).str();
    if (const ExtentVar* var = as_extent_var(dim)) {
      nodes_[at] = object(extent_type_key(dim), {{"dtype", dtype},
                                                 {"name", number(add_string(var->name))},
                                                 {"span", "0"},
                                                 {"type_annotation", "0"}});
    } else {
      const ExtentParts parts = extent_parts(dim);
      const size_t a = add_extent(parts.a), b = add_extent(parts.b);
      nodes_[at] =
          object(extent_type_key(dim), {{"a", number(a)}, {"b", number(b)}, {"dtype", dtype}, {"span", "0"}});
    }
    extents_.emplace(dim.symbol_id(), at);
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

  // A value as a separate node.
  size_t add_value(const AttrValue& value) {
    if (value.is_none()) return 0;
    if (const std::string* text = value.as<std::string>()) return add_string(*text);
    if (const AttrObjectRef* of = value.as<AttrObjectRef>()) return add_object(*of->object);
    const size_t at = reserve();
    if (const AttrList* list = value.as<AttrList>()) {
      std::vector<size_t> members;
      for (const AttrValue& item : *list) members.push_back(add_value(item));
      nodes_[at] = array(std::move(members));
    } else if (value.as<double>()) {
      nodes_[at] = object("FloatImm", {{"dtype", "float32"}, {"span", "0"}, {"value", plain(value)}});
    } else {
      nodes_[at] = object(
          "IntImm", {{"dtype", value.as<bool>() ? "bool" : "int32"}, {"span", "0"}, {"value", plain(value)}});
    }
    return at;
  }

  // A value stored inside the attributes' node.
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

  std::vector<Node> nodes_;
  std::vector<std::string> blobs_;
  std::unordered_map<uint32_t, size_t> extents_;
  size_t no_device_ = 0;
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
