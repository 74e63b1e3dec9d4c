#include "baton/driver/plan/graph_json.h"

#include "baton/support/json_writer.h"

namespace baton {
namespace {

std::string id_list(const std::vector<uint32_t>& ids) {
  std::string text = "[";
  for (uint32_t id : ids) text += (text.size() > 1 ? ", " : "") + std::to_string(id);
  return text + "]";
}

class GraphJson {
 public:
  explicit GraphJson(const Plan& plan) : plan_(plan) {}

  std::string write() {
    json_.begin_object();
    write_nodes();
    json_.key("arg_nodes");
    json_.value(std::vector<int64_t>(plan_.arg_nodes.begin(), plan_.arg_nodes.end()));
    json_.key("heads");
    write_entries(plan_.heads);
    write_graph_attrs();
    json_.key("node_row_ptr");
    std::vector<int64_t> rows;
    for (const PlanNode& node : plan_.nodes) rows.push_back(node.first_entry);
    rows.push_back(static_cast<int64_t>(plan_.entries.size()));
    json_.value(rows);
    json_.end_object();
    return json_.take();
  }

 private:
  void write_nodes() {
    json_.key("nodes");
    json_.begin_array();
    for (const PlanNode& node : plan_.nodes) {
      const bool called = node.kind != PlanNode::Kind::kInput;
      json_.item();
      json_.begin_object();
      json_.key("op");
      json_.value(std::string_view(called ? "tvm_op" : "null"));
      json_.key("name");
      json_.value(node.name);
      if (called) write_attrs(node);
      json_.key("inputs");
      write_entries(node.inputs);
      json_.end_object();
    }
    json_.end_array();
  }

  void write_attrs(const PlanNode& node) {
    const auto attr = [&](std::string_view name, std::string_view value) {
      json_.key(name);
      json_.value(value);
    };
    json_.key("attrs");
    json_.begin_object();
    attr("num_outputs", std::to_string(node.num_outputs));
    attr("num_inputs", std::to_string(node.inputs.size()));
    attr("flatten_data", "0");
    attr("func_name", node.func_name);
    for (const auto& [name, value] : node.attrs) attr(name, value);
    if (!node.origins.empty()) attr("origins", id_list(node.origins));
    if (!node.made_for.empty()) attr("made_for", id_list(node.made_for));
    if (!node.reason.empty()) attr("reason", node.reason);
    if (!node.fallback.empty()) attr("fallback", node.fallback);
    if (!node.backend.empty()) attr("backend", node.backend);
    json_.end_object();
  }

  /// [[node, output, 0], ...].
  void write_entries(const std::vector<EntryId>& entries) {
    json_.begin_array();
    for (const EntryId entry : entries) {
      const uint32_t node = plan_.maker_of(entry);
      json_.item();
      json_.begin_array();
      for (const int64_t number :
           {int64_t{node}, int64_t{entry} - plan_.nodes[node].first_entry, int64_t{0}}) {
        json_.item();
        json_.value(number);
      }
      json_.end_array();
    }
    json_.end_array();
  }

  void write_graph_attrs() {
    json_.key("attrs");
    json_.begin_object();
    std::vector<std::string> types;
    std::vector<int64_t> devices, storages;
    for (const PlanEntry& entry : plan_.entries) {
      types.push_back(entry.dtype.str());
      devices.push_back(entry.device_type);
      storages.push_back(entry.storage);
    }
    write_attr("dltype", "list_str", [&] { json_.value(types); });
    write_attr("device_index", "list_int", [&] { json_.value(devices); });
    write_attr("storage_id", "list_int", [&] { json_.value(storages); });
    write_attr("shape", "list_shape", [&] {
      json_.begin_array();
      for (const PlanEntry& entry : plan_.entries) {
        json_.item();
        json_.value(entry.shape);
      }
      json_.end_array();
    });
    json_.end_object();
  }

  template <class Value>
  void write_attr(const char* name, const char* kind, Value&& value) {
    json_.key(name);
    json_.begin_array();
    json_.item();
    json_.value(std::string_view(kind));
    json_.item();
    value();
    json_.end_array();
  }

  const Plan& plan_;
  JsonWriter json_;
};

}  // namespace

std::string graph_json(const Plan& plan) { return GraphJson(plan).write(); }

}  // namespace baton
