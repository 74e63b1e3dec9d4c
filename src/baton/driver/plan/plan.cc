#include "baton/driver/plan/plan.h"

#include <algorithm>
#include <cstdio>
#include <unordered_map>

#include "baton/driver/plan/json_writer.h"
#include "baton/driver/plan/kernel_names.h"
#include "baton/driver/plan/region_attrs.h"
#include "baton/driver/plan/storage.h"
#include "baton/ir/op.h"
#include "baton/ir/structural.h"
#include "baton/ir/visit.h"

namespace baton {
namespace {

/// One tensor of the plan: output `output` of node `node`.
struct Entry {
  int node = 0, output = 0;
  const TensorTypeNode* type = nullptr;
  int storage = -1;
};

using Entries = std::vector<int>;  // indices into the entry table, which is in node order

struct Attr {
  std::string name, value;
};

void flatten(const Type& type, std::vector<const TensorTypeNode*>& out) {
  if (const auto* tuple = as_type<TupleTypeNode>(type)) {
    for (const Type& field : tuple->fields()) flatten(field, out);
    return;
  }
  const auto* tensor = as_type<TensorTypeNode>(type);
  if (!tensor)
    throw NotSupported("the graph executor runs tensors and tuples of them only, not " +
                       (type ? type_text(type) : "untyped values"));
  if (!tensor->is_static())
    throw NotSupported(
        "the graph executor needs constant shapes, found " + type_text(Type(tensor)) +
        "; give every extent a number (models whose shapes are only known at run time cannot be built yet)");
  out.push_back(tensor);
}

std::vector<const TensorTypeNode*> tensors_of(const Type& type) {
  std::vector<const TensorTypeNode*> out;
  flatten(type, out);
  return out;
}

int64_t bytes_of(const TensorTypeNode& type) {
  int64_t bytes = static_cast<int64_t>(type.dtype().bytes());
  for (int64_t extent : type.extents()) bytes *= extent;
  return bytes;
}

Type value_type(const Expr& expr) {
  const auto* var = as<VarNode>(expr);
  return var && !expr->checked_type() ? var->annotation() : expr->checked_type();
}

bool is_on_device(const Expr& expr) {
  const auto* call = as<CallNode>(expr);
  return call && call->op() && call->op()->name == "on_device";
}

std::string id_list(const OriginTable& table, std::span<const Origin* const> origins) {
  std::vector<uint32_t> ids;
  for (const Origin* origin : origins)
    if (const auto id = table.find(origin)) ids.push_back(index(*id));
  std::sort(ids.begin(), ids.end());
  std::string text = "[";
  for (uint32_t id : ids) text += (text.size() > 1 ? ", " : "") + std::to_string(id);
  return text + "]";
}

class Planner {
 public:
  Planner(const IRModule& module, std::string mod_name) : module_(module), mod_name_(std::move(mod_name)) {}

  GraphPlan run() {
    const Function main = module_->find("main");
    if (!main) throw Error("the module has no function `main`");
    post_order(
        main->body(),
        [&](const Expr& node) {
          if (const auto* let = as<LetNode>(node)) lets_[let->var().get()] = let->value();
        },
        [](const Expr& node) { return node->kind() != ExprKind::kFunction; });
    count_reads(main);
    for (const Var& param : main->params()) add_input(param);
    post_order(
        main->body(), [&](const Expr& node) { visit(node); },
        [](const Expr& node) { return node->kind() != ExprKind::kFunction; });
    for (int entry : entries_at(main->body())) heads_.push_back(entry);
    plan_.graph_json = write();
    return std::move(plan_);
  }

 private:
  /// What a name stands for: a graph has no names, `let` only says where a value is shared, and on_device
  /// where it is.
  Expr strip_aliases(Expr value) const {
    for (;;) {
      if (const auto* let = as<LetNode>(value)) {
        value = let->body();
      } else if (is_on_device(value)) {
        value = static_cast<const CallNode&>(*value).args()[0];
      } else if (const auto named = lets_.find(value.get()); named != lets_.end()) {
        value = named->second;
      } else {
        return value;
      }
    }
  }

  /// How often each value is read: storage may be used again after the last time.
  void count_reads(const Function& main) {
    const auto count = [&](const Expr& read, auto&& self) -> void {
      const Expr reader = strip_aliases(read);
      if (const auto* tuple = as<TupleNode>(reader)) {
        for (const Expr& field : tuple->fields()) self(field, self);
      } else if (const auto* item = as<TupleGetItemNode>(reader)) {
        const Expr whole = strip_aliases(item->tuple());
        if (const auto* literal = as<TupleNode>(whole)) return self(literal->fields()[item->index()], self);
        const auto* type = as_type<TupleTypeNode>(value_type(item->tuple()));
        BATON_CHECK(type, "a projection of a value that is no tuple");
        size_t first = 0;
        for (int i = 0; i < item->index(); ++i) first += tensors_of(type->fields()[i]).size();
        const size_t width = tensors_of(type->fields()[item->index()]).size();
        std::vector<int>& reads = reads_of(whole);
        for (size_t i = 0; i < width; ++i) ++reads[first + i];
      } else {
        for (int& reads : reads_of(reader)) ++reads;
      }
    };
    post_order(
        main->body(),
        [&](const Expr& node) {
          const auto* call = as<CallNode>(node);
          if (!call || is_on_device(node)) return;
          for (const Expr& arg : call->args()) count(arg, count);
        },
        [](const Expr& node) { return node->kind() != ExprKind::kFunction; });
    count(main->body(), count);
  }

  std::vector<int>& reads_of(const Expr& value) {
    auto [at, fresh] = reads_.try_emplace(value.get());
    if (fresh) at->second.resize(tensors_of(value_type(value)).size());
    return at->second;
  }

  void visit(const Expr& node) {
    switch (node->kind()) {
      case ExprKind::kVar:
        if (!values_.count(node.get()) && !lets_.count(node.get()))
          throw NotSupported("`main` uses a variable that is none of its parameters: " +
                             as<VarNode>(node)->name());
        return;
      case ExprKind::kConstant:
        return add_constant(*as<ConstantNode>(node));
      case ExprKind::kTuple: {
        Entries all;
        for (const Expr& field : as<TupleNode>(node)->fields()) append(all, entries_at(field));
        values_[node.get()] = std::move(all);
        return;
      }
      case ExprKind::kTupleGetItem: {
        const auto& item = *as<TupleGetItemNode>(node);
        const auto& fields = as_type<TupleTypeNode>(value_type(item.tuple()))->fields();
        size_t first = 0;
        for (int i = 0; i < item.index(); ++i) first += tensors_of(fields[i]).size();
        const Entries all = entries_at(item.tuple());
        const size_t width = tensors_of(fields[item.index()]).size();
        values_[node.get()] = Entries(all.begin() + first, all.begin() + first + width);
        return;
      }
      case ExprKind::kCall:
        if (is_on_device(node)) return;
        return add_call(*as<CallNode>(node));
      case ExprKind::kIf:
        throw NotSupported("the graph executor does not support control flow (found an if)");
      case ExprKind::kMatch:
        throw NotSupported("the graph executor does not support control flow (found a match)");
      case ExprKind::kRefCreate:
      case ExprKind::kRefRead:
      case ExprKind::kRefWrite:
        throw NotSupported("the graph executor does not support references");
      case ExprKind::kLet:  // its value and its body have been met
      case ExprKind::kFunction:
      case ExprKind::kGlobalVar:
      case ExprKind::kConstructor:
      case ExprKind::kOp:
        return;
    }
  }

  const Entries& entries_at(const Expr& value) const {
    const auto at = values_.find(strip_aliases(value).get());
    if (at == values_.end()) throw NotSupported("the graph executor cannot hold functions as values");
    return at->second;
  }

  /// Appends a node with one entry per tensor of `type`.
  Entries add_node(PlannedNode node, const Type& type) {
    const int id = static_cast<int>(plan_.nodes.size());
    plan_.nodes.push_back(std::move(node));
    row_ptr_.push_back(static_cast<int64_t>(entries_.size()));
    Entries made;
    for (const TensorTypeNode* tensor : tensors_of(type)) {
      made.push_back(static_cast<int>(entries_.size()));
      entries_.push_back({id, static_cast<int>(made.size()) - 1, tensor, -1});
    }
    kept_types_.push_back(type);
    return made;
  }

  void add_input(const Var& param) {
    PlannedNode node;
    node.name = param->name();
    const Type type = value_type(Expr(param));
    if (!as_type<TensorTypeNode>(type))
      throw NotSupported("input `" + param->name() +
                         "` is no tensor: " + (type ? type_text(type) : "not typed"));
    const Entries made = add_node(std::move(node), type);
    entries_[made[0]].storage = storage_.keep(bytes_of(*entries_[made[0]].type));
    values_[param.get()] = made;
  }

  void add_constant(const ConstantNode& constant) {
    PlannedNode node;
    node.name = "p" + std::to_string(plan_.params.size());
    node.origins = constant.origins();
    plan_.params.emplace_back(node.name, constant.value());
    const Entries made = add_node(std::move(node), constant.checked_type());
    entries_[made[0]].storage = storage_.keep(bytes_of(*entries_[made[0]].type));
    values_[&constant] = made;
  }

  /// The primitive function that a call calls: written out, or by name.
  Function callee_of(const CallNode& call) const {
    Function function = as_ref<FunctionNode>(call.callee());
    if (const auto* global = as<GlobalVarNode>(call.callee())) function = module_->find(global->name());
    if (function && function->is_primitive()) return function;
    if (call.op())
      throw NotSupported("operator " + call.op()->name + " stands outside of any kernel: run FuseOps first");
    throw NotSupported("the graph executor calls kernels only, not functions");
  }

  void add_call(const CallNode& call) {
    const Function function = callee_of(call);
    Entries inputs;
    for (const Expr& arg : call.args()) append(inputs, entries_at(arg));
    PlannedNode node;
    node.kernel = kernel_of(function);
    node.function = function;
    node.origins = call.origins();
    for (int input : inputs) node.inputs.push_back(entries_[input].node);
    const AttrValue* reshape_only = function->attr("relay.reshape_only");
    const bool in_place = reshape_only && reshape_only->as<int64_t>() && *reshape_only->as<int64_t>() == 1 &&
                          inputs.size() == 1;
    node.func_name = in_place ? "__nop" : plan_.kernels[node.kernel].func_name;
    node.name = in_place ? "reshape_nop" : node_names_.make(node.func_name);  // all of them, as in TVM
    plan_.kernels[node.kernel].called |= !in_place;
    const Entries made = add_node(std::move(node), call.checked_type());
    node_inputs_[entries_[made[0]].node] = inputs;
    give_storage(Expr(&call), made, inputs, in_place);
    values_[&call] = made;
  }

  void give_storage(const Expr& call, const Entries& made, const Entries& inputs, bool in_place) {
    const std::vector<int>& reads = reads_of(call);
    for (size_t i = 0; i < made.size(); ++i) {
      Entry& entry = entries_[made[i]];
      if (in_place) {
        entry.storage = entries_[inputs[0]].storage;
        storage_.share(entry.storage, reads[i]);
      } else {
        entry.storage = storage_.request(bytes_of(*entry.type), reads[i]);
      }
    }
    for (int entry : made) storage_.written(entries_[entry].storage);
    for (int input : inputs) storage_.read(entries_[input].storage);
  }

  /// Equal functions share a kernel.
  int kernel_of(const Function& function) {
    const uint64_t hash = structural_hash(Expr(function));
    for (int candidate : kernels_by_hash_[hash])
      if (structural_equal(Expr(plan_.kernels[candidate].function), Expr(function))) return candidate;
    const int fresh = static_cast<int>(plan_.kernels.size());
    const std::string region = region_of(*function);
    const std::string name =
        region.empty() ? kernel_name(mod_name_, *function) : region_kernel_name(region, *function);
    plan_.kernels.push_back({kernel_names_.make(name), function, false});
    kernels_by_hash_[hash].push_back(fresh);
    return fresh;
  }

  // ---- Writing.

  /// hash and layouts (LabelOps sets them; a module without it gets the hash), then what stands for what.
  std::vector<Attr> attrs_of(int id) const {
    const PlannedNode& node = plan_.nodes[id];
    size_t outputs = 0;
    outputs = static_cast<size_t>(row_ptr_[id + 1] - row_ptr_[id]);
    std::vector<Attr> attrs = {{"num_outputs", std::to_string(outputs)},
                               {"num_inputs", std::to_string(node.inputs.size())},
                               {"flatten_data", "0"},
                               {"func_name", node.func_name}};
    for (const auto& [name, value] : node.function->attrs())
      if (const auto* text = value.as<std::string>()) attrs.push_back({name, *text});
    if (!node.function->attr("hash")) {
      char hash[24];
      std::snprintf(hash, sizeof hash, "%016llx",
                    static_cast<unsigned long long>(structural_hash(Expr(node.function))));
      attrs.push_back({"hash", hash});
    }
    if (!node.origins.origins().empty())
      attrs.push_back({"origins", id_list(module_->origins(), node.origins.origins())});
    if (!node.origins.causes().empty())
      attrs.push_back({"made_for", id_list(module_->origins(), node.origins.causes())});
    if (!node.origins.reason().empty()) attrs.push_back({"reason", std::string(node.origins.reason())});
    return attrs;
  }

  static void write_entry(JsonWriter& json, const Entry& entry) {
    json.begin_array();
    for (int64_t number : {int64_t(entry.node), int64_t(entry.output), int64_t(0)}) {
      json.item();
      json.value(number);
    }
    json.end_array();
  }

  void write_nodes(JsonWriter& json) const {
    json.key("nodes");
    json.begin_array();
    for (size_t id = 0; id < plan_.nodes.size(); ++id) {
      const PlannedNode& node = plan_.nodes[id];
      json.item();
      json.begin_object();
      json.key("op");
      json.value(std::string_view(node.function ? "tvm_op" : "null"));
      json.key("name");
      json.value(node.name);
      if (node.function) {
        json.key("attrs");
        json.begin_object();
        for (const Attr& attr : attrs_of(static_cast<int>(id))) {
          json.key(attr.name);
          json.value(attr.value);
        }
        json.end_object();
      }
      json.key("inputs");
      json.begin_array();
      if (const auto at = node_inputs_.find(static_cast<int>(id)); at != node_inputs_.end()) {
        for (int input : at->second) {
          json.item();
          write_entry(json, entries_[input]);
        }
      }
      json.end_array();
      json.end_object();
    }
    json.end_array();
  }

  template <class Value>
  void write_attr(JsonWriter& json, const char* name, const char* kind, Value&& value) const {
    json.key(name);
    json.begin_array();
    json.item();
    json.value(std::string_view(kind));
    json.item();
    value();
    json.end_array();
  }

  void write_graph_attrs(JsonWriter& json) const {
    std::vector<std::string> types;
    std::vector<int64_t> devices, storages;
    for (const Entry& entry : entries_) {
      types.push_back(entry.type->dtype().str());
      devices.push_back(1);  // the processor
      storages.push_back(entry.storage);
    }
    json.key("attrs");
    json.begin_object();
    write_attr(json, "dltype", "list_str", [&] { json.value(types); });
    write_attr(json, "device_index", "list_int", [&] { json.value(devices); });
    write_attr(json, "storage_id", "list_int", [&] { json.value(storages); });
    write_attr(json, "shape", "list_shape", [&] {
      json.begin_array();
      for (const Entry& entry : entries_) {
        json.item();
        json.value(entry.type->extents());
      }
      json.end_array();
    });
    json.end_object();
  }

  std::string write() {
    std::vector<int64_t> args;
    for (size_t id = 0; id < plan_.nodes.size(); ++id)
      if (!plan_.nodes[id].function) args.push_back(static_cast<int64_t>(id));
    row_ptr_.push_back(static_cast<int64_t>(entries_.size()));
    JsonWriter json;
    json.begin_object();
    write_nodes(json);
    json.key("arg_nodes");
    json.value(args);
    json.key("heads");
    json.begin_array();
    for (int head : heads_) {
      json.item();
      write_entry(json, entries_[head]);
    }
    json.end_array();
    write_graph_attrs(json);
    json.key("node_row_ptr");
    json.value(row_ptr_);
    json.end_object();
    return json.take();
  }

  static void append(Entries& to, const Entries& from) { to.insert(to.end(), from.begin(), from.end()); }

  const IRModule& module_;
  std::string mod_name_;
  GraphPlan plan_;
  std::vector<Entry> entries_;
  std::vector<Type> kept_types_;  // entries point into them
  std::vector<int64_t> row_ptr_;
  Entries heads_;
  std::unordered_map<const ExprNode*, Entries> values_;
  std::unordered_map<const ExprNode*, Expr> lets_;  // what variables are bound to
  std::unordered_map<const ExprNode*, std::vector<int>> reads_;
  std::unordered_map<int, Entries> node_inputs_;
  std::unordered_map<uint64_t, std::vector<int>> kernels_by_hash_;
  UniqueNames kernel_names_, node_names_;
  StoragePlanner storage_;
};

}  // namespace

GraphPlan make_plan(const IRModule& module, const std::string& mod_name) {
  return Planner(module, mod_name).run();
}

}  // namespace baton
