#include "baton/runtime/plan.h"

#include <algorithm>
#include <optional>

#include "baton/runtime/baton_backend.h"
#include "baton/support/base/json.h"

namespace baton {
namespace {

constexpr int64_t kMaxExtent = INT32_MAX;  // kernels use 32-bit indices
constexpr int64_t kMaxBytes = int64_t{1} << 46;
constexpr size_t kMaxDimensions = 64;

// Node attributes that are stored in fields.
constexpr std::string_view kFields[] = {"func_name", "num_outputs", "num_inputs", "flatten_data", "origins",
                                        "made_for",  "reason",      "fallback",   "backend"};

Status bad(std::string what) {
  return Status::bad_data("the plan (graph.json) is damaged: " + std::move(what));
}

std::string called(const Plan& plan, size_t node) {
  return "node " + std::to_string(node) + " (`" + plan.nodes[node].name + "`)";
}

/// A nop or a copy has one input and one output of the same size.
Status check_same_data(const Plan& plan, size_t index) {
  const PlanNode& node = plan.nodes[index];
  if (node.inputs.size() != 1 || node.num_outputs != 1)
    return bad(called(plan, index) + " must have one input and one output");
  const PlanEntry& from = plan.entries[node.inputs[0]];
  const PlanEntry& to = plan.entries[node.first_entry];
  if (from.bytes() != to.bytes()) return bad(called(plan, index) + " changes the size of its data");
  if (node.kind == PlanNode::Kind::kNop && from.storage != to.storage)
    return bad(called(plan, index) + " does nothing but has a storage of its own");
  return {};
}

/// A kernel runs on the device of its results, and its operands must be there.
Status check_device(const Plan& plan, size_t index) {
  const PlanNode& node = plan.nodes[index];
  const int device = plan.entries[node.first_entry].device_type;
  for (const EntryId input : node.inputs) {
    if (plan.entries[input].device_type != device)
      return bad(called(plan, index) + " is on device type " + std::to_string(device) +
                 " and reads a tensor of device type " + std::to_string(plan.entries[input].device_type) +
                 " that nothing copies");
  }
  for (uint32_t i = 1; i < node.num_outputs; ++i) {
    if (plan.entries[node.first_entry + i].device_type != device)
      return bad(called(plan, index) + " has results on two devices");
  }
  return {};
}

/// Parses one plan. Every step sets status_ and returns false on failure.
class Reader {
 public:
  Reader(const JsonValue& root, std::string_view text) : root_(root), text_(text) {}

  Result<std::shared_ptr<const Plan>> read() {
    if (!root_.is_object()) return bad("it is not a JSON object");
    if (!read_nodes() || !read_row_ptr() || !read_inputs() || !read_heads() || !read_arg_nodes() ||
        !read_entries()) {
      return status_;
    }
    // Calls without outputs are those of a program, which reports read and no executor runs.
    const bool calls = std::ranges::any_of(
        plan_.nodes, [](const auto& node) { return node.kind != PlanNode::Kind::kInput; });
    if (!plan_.heads.empty() || !calls)
      if (Status status = plan_.set_storages(); !status.ok()) return status;
    return std::shared_ptr<const Plan>(std::make_shared<Plan>(std::move(plan_)));
  }

 private:
  bool fail(std::string what) {
    status_ = bad(std::move(what));
    return false;
  }

  static std::string number(size_t value) { return std::to_string(value); }

  std::string called(size_t node) const { return baton::called(plan_, node); }

  /// A member that must be an array.
  const JsonValue* list(const JsonValue& of, const char* name) {
    const JsonValue* found = of.member(name);
    if (found && found->is_array()) return found;
    fail("there is no list `" + std::string(name) + "`");
    return nullptr;
  }

  bool read_nodes() {
    const JsonValue* nodes = list(root_, "nodes");
    if (!nodes) return false;
    plan_.nodes.reserve(nodes->size());
    for (const JsonValue& node : *nodes) {
      if (!read_node(node)) return false;
    }
    return true;
  }

  bool read_node(const JsonValue& json) {
    const size_t index = plan_.nodes.size();
    const JsonValue* op = json.member("op");
    const JsonValue* name = json.member("name");
    if (!op || !op->string() || !name || !name->string())
      return fail("node " + number(index) + " has no `op` or no `name`");
    PlanNode& node = plan_.nodes.emplace_back();
    node.name = *name->string();
    if (!read_attrs(json, node)) return fail(called(index) + " has attributes that are no strings");
    if (*op->string() != "null" && !read_call(index, *op->string())) return false;
    std::erase_if(node.attrs, [](const auto& attr) {
      return std::find(std::begin(kFields), std::end(kFields), attr.first) != std::end(kFields);
    });
    return true;
  }

  bool read_call(size_t index, std::string_view op) {
    PlanNode& node = plan_.nodes[index];
    if (op != "tvm_op") return fail(called(index) + " is of unknown kind `" + std::string(op) + "`");
    node.func_name = node.attr("func_name");
    if (node.func_name.empty()) return fail(called(index) + " names no function");
    node.kind = node.func_name == "__nop"    ? PlanNode::Kind::kNop
                : node.func_name == "__copy" ? PlanNode::Kind::kCopy
                                             : PlanNode::Kind::kKernel;
    return read_count(index, "num_outputs", node.num_outputs) &&
           read_origins(index, "origins", node.origins) && read_origins(index, "made_for", node.made_for);
  }

  static bool read_attrs(const JsonValue& json, PlanNode& node) {
    const JsonValue* attrs = json.member("attrs");
    if (!attrs) return true;
    if (!attrs->is_object()) return false;
    for (size_t i = 0; i < attrs->size(); ++i) {  // by name
      const std::optional<std::string_view> value = attrs->value(i).string();
      if (!value) return false;
      node.attrs.emplace_back(attrs->name(i), *value);
    }
    node.reason = node.attr("reason");
    node.fallback = node.attr("fallback");
    node.backend = node.attr("backend");
    return true;
  }

  bool read_count(size_t index, const char* name, uint32_t& count) {
    const std::string_view text = plan_.nodes[index].attr(name);
    const std::optional<JsonDocument> value = JsonDocument::parse(text);
    const std::optional<int64_t> read = value ? value->root().integer() : std::nullopt;
    if (!read || *read < 1 || *read > 1 << 20)
      return fail(called(index) + " has `" + name + "` = \"" + std::string(text) + "\"");
    count = static_cast<uint32_t>(*read);
    return true;
  }

  /// A list of ids as text, "[3, 7]". Empty when absent.
  bool read_origins(size_t index, const char* name, std::vector<uint32_t>& ids) {
    const std::string_view text = plan_.nodes[index].attr(name);
    if (text.empty()) return true;
    const std::optional<JsonDocument> value = JsonDocument::parse(text);
    bool good = value && value->root().is_array();
    for (size_t i = 0; good && i < value->root().size(); ++i) {
      const std::optional<int64_t> id = value->root()[i].integer();
      good = id && *id >= 0 && *id <= UINT32_MAX;
      if (good) ids.push_back(static_cast<uint32_t>(*id));
    }
    return good || fail(called(index) + " has `" + name + "` = \"" + std::string(text) +
                        "\", which is no list of ids");
  }

  bool read_row_ptr() {
    const JsonValue* rows = list(root_, "node_row_ptr");
    if (!rows) return false;
    if (rows->size() != plan_.nodes.size() + 1) {
      return fail("`node_row_ptr` has " + number(rows->size()) + " numbers for " +
                  number(plan_.nodes.size()) + " nodes");
    }
    size_t entry = 0;
    for (size_t i = 0; i <= plan_.nodes.size(); ++i) {
      if ((*rows)[i].integer() != static_cast<int64_t>(entry)) {
        return fail("`node_row_ptr` does not agree with the numbers of outputs at node " + number(i));
      }
      if (i == plan_.nodes.size()) break;
      plan_.nodes[i].first_entry = static_cast<EntryId>(entry);
      entry += plan_.nodes[i].num_outputs;
      if (entry > UINT32_MAX) return fail("it has more than 2^32 tensors");
    }
    num_entries_ = entry;
    return true;
  }

  /// An entry [node, output, version] of a node before `limit`.
  std::optional<EntryId> entry(const JsonValue& json, size_t limit) const {
    if (!json.is_array() || json.size() < 2 || json.size() > 3) return std::nullopt;
    const std::optional<int64_t> node = json[0].integer(), output = json[1].integer();
    if (!node || *node < 0 || static_cast<size_t>(*node) >= limit) return std::nullopt;
    const PlanNode& of = plan_.nodes[static_cast<size_t>(*node)];
    if (!output || *output < 0 || *output >= of.num_outputs) return std::nullopt;
    return of.first_entry + static_cast<EntryId>(*output);
  }

  bool read_inputs() {
    const JsonValue& nodes = *root_.member("nodes");
    for (size_t i = 0; i < plan_.nodes.size(); ++i) {
      const JsonValue* inputs = nodes[i].member("inputs");
      if (!inputs) continue;
      if (!inputs->is_array()) return fail(called(i) + " has `inputs` that are no list");
      for (const JsonValue& input : *inputs) {
        const std::optional<EntryId> id = entry(input, i);
        if (!id)
          return fail(called(i) +
                      " has an input that no node before it computes: " + compact_json(input, text_));
        plan_.nodes[i].inputs.push_back(*id);
      }
    }
    return true;
  }

  bool read_heads() {
    const JsonValue* heads = list(root_, "heads");
    if (!heads) return false;
    for (const JsonValue& head : *heads) {
      const std::optional<EntryId> id = entry(head, plan_.nodes.size());
      if (!id) return fail("an output is computed by no node: " + compact_json(head, text_));
      plan_.heads.push_back(*id);
    }
    return true;
  }

  bool read_arg_nodes() {
    const JsonValue* args = list(root_, "arg_nodes");
    if (!args) return false;
    std::vector<bool> seen(plan_.nodes.size());
    for (const JsonValue& arg : *args) {
      const std::optional<int64_t> node = arg.integer();
      if (!node || *node < 0 || static_cast<size_t>(*node) >= plan_.nodes.size() ||
          plan_.nodes[static_cast<size_t>(*node)].kind != PlanNode::Kind::kInput ||
          seen[static_cast<size_t>(*node)]) {
        return fail("`arg_nodes` lists something that is not an input, or lists it twice");
      }
      seen[static_cast<size_t>(*node)] = true;
      plan_.arg_nodes.push_back(static_cast<uint32_t>(*node));
    }
    for (size_t i = 0; i < plan_.nodes.size(); ++i) {
      const bool input = plan_.nodes[i].kind == PlanNode::Kind::kInput;
      if (input && !seen[i]) return fail(called(i) + " is an input that `arg_nodes` does not list");
      if (input && !plan_.nodes[i].inputs.empty()) return fail(called(i) + " is an input and has inputs");
    }
    return true;
  }

  /// The values of a graph attribute ["kind", [values]]; null (and an error if required) when malformed.
  const JsonValue* values(const char* name, bool required) {
    const JsonValue* attrs = root_.member("attrs");
    const JsonValue* attr = attrs ? attrs->member(name) : nullptr;
    if (!attr && !required) return nullptr;
    if (attr && attr->is_array() && attr->size() == 2 && (*attr)[1].is_array() &&
        (*attr)[1].size() == num_entries_) {
      return &(*attr)[1];
    }
    fail("attribute `" + std::string(name) + "` does not list one value for each of " + number(num_entries_) +
         " tensors");
    return nullptr;
  }

  bool read_entries() {
    const JsonValue* types = values("dltype", true);
    const JsonValue* shapes = types ? values("shape", true) : nullptr;
    const JsonValue* storages = shapes ? values("storage_id", true) : nullptr;
    if (!storages) return false;
    const JsonValue* devices = values("device_index", false);
    const JsonValue* scopes = values("storage_scope", false);
    if (!status_.ok()) return false;
    plan_.entries.resize(num_entries_);
    for (size_t i = 0; i < num_entries_; ++i) {
      PlanEntry& entry = plan_.entries[i];
      const std::optional<std::string_view> type = (*types)[i].string();
      const std::optional<DType> dtype = type ? DType::parse(*type) : std::nullopt;
      if (!dtype || dtype->is_void()) return fail("tensor " + number(i) + " has an unknown type");
      entry.dtype = *dtype;
      if (!read_shape((*shapes)[i], entry))
        return fail("tensor " + number(i) + " has a shape that cannot be run");
      const std::optional<int64_t> storage = (*storages)[i].integer();
      if (!storage || *storage < 0 || static_cast<size_t>(*storage) >= num_entries_) {
        return fail("tensor " + number(i) + " has a storage id out of range");
      }
      entry.storage = static_cast<int>(*storage);
      if (devices && !read_device((*devices)[i], entry))
        return fail("tensor " + number(i) + " has an unknown device");
      if (scopes && (*scopes)[i].string()) entry.scope = *(*scopes)[i].string();
    }
    return true;
  }

  static bool read_device(const JsonValue& json, PlanEntry& entry) {
    const std::optional<int64_t> device = json.integer();
    if (!device || *device < 1 || *device > BATON_LAST_KIND) return false;
    entry.device_type = static_cast<int>(*device);
    return true;
  }

  static bool read_shape(const JsonValue& json, PlanEntry& entry) {
    if (!json.is_array() || json.size() > kMaxDimensions) return false;
    for (const JsonValue& value : json) {
      const std::optional<int64_t> extent = value.integer();
      if (!extent) return false;
      entry.shape.push_back(*extent);
    }
    return fits_executor(entry.shape, entry.dtype);
  }

  const JsonValue& root_;
  std::string_view text_;
  Plan plan_;
  size_t num_entries_ = 0;
  Status status_;
};

}  // namespace

std::string_view PlanNode::attr(std::string_view name) const {
  for (const auto& [key, value] : attrs)
    if (key == name) return value;
  return {};
}

bool fits_executor(std::span<const int64_t> shape, DType dtype) {
  if (shape.size() > kMaxDimensions) return false;
  for (const int64_t extent : shape)
    if (extent < 0 || extent > kMaxExtent) return false;
  const std::optional<int64_t> bytes = byte_count(shape, dtype);
  return bytes && *bytes <= kMaxBytes;
}

Result<std::shared_ptr<const Plan>> Plan::parse(std::string_view graph_json) {
  const std::optional<JsonDocument> json = JsonDocument::parse(graph_json);
  if (!json) return bad("it is not JSON (" + std::to_string(graph_json.size()) + " bytes)");
  return Reader(json->root(), graph_json).read();
}

Status Plan::set_storages() {
  storages.clear();
  for (const PlanEntry& entry : entries) {
    const auto index = static_cast<size_t>(entry.storage);
    if (index >= storages.size()) storages.resize(index + 1);
    if (storages[index].device_type != 0 && storages[index].device_type != entry.device_type)
      return bad("storage " + std::to_string(index) + " is on two devices");
    storages[index].bytes = std::max(storages[index].bytes, entry.bytes());
    storages[index].device_type = entry.device_type;
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    const PlanNode& node = nodes[i];
    if (node.kind == PlanNode::Kind::kInput) continue;
    if (node.kind != PlanNode::Kind::kKernel)
      if (Status status = check_same_data(*this, i); !status.ok()) return status;
    if (node.kind == PlanNode::Kind::kKernel)
      if (Status status = check_device(*this, i); !status.ok()) return status;
    if (node.kind == PlanNode::Kind::kNop) continue;  // written by the node that computed the data
    for (uint32_t output = 0; output < node.num_outputs; ++output)
      storages[static_cast<size_t>(entries[node.first_entry + output].storage)].written = true;
  }
  for (const uint32_t arg : arg_nodes)
    if (storages[static_cast<size_t>(entries[nodes[arg].first_entry].storage)].written)
      return bad(called(*this, arg) + " is an input whose storage kernels overwrite");
  return {};
}

bool Plan::is_simulated(uint32_t node) const {
  const PlanNode& of = nodes[node];
  const auto on = [&](EntryId entry) { return entries[entry].device_type >= BATON_FIRST_SIMULATED_KIND; };
  return on(of.first_entry) || (of.kind == PlanNode::Kind::kCopy && on(of.inputs[0]));
}

uint32_t Plan::maker_of(EntryId entry) const {
  const auto after = std::upper_bound(nodes.begin(), nodes.end(), entry,
                                      [](EntryId id, const PlanNode& node) { return id < node.first_entry; });
  return static_cast<uint32_t>(after - nodes.begin()) - 1;
}

size_t Plan::workspace_bytes() const {
  size_t bytes = 0;
  for (const PlanStorage& storage : storages) bytes += storage.written ? storage.bytes : 0;
  return bytes;
}

}  // namespace baton
