#include "baton/driver/plan/plan.h"

#include <algorithm>
#include <cstdio>
#include <unordered_map>

#include "baton/driver/plan/kernel_names.h"
#include "baton/driver/plan/region_attrs.h"
#include "baton/driver/plan/storage.h"
#include "baton/ir/op.h"
#include "baton/ir/structural.h"
#include "baton/ir/visit.h"

namespace baton {
namespace {

using Entries = std::vector<EntryId>;

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
  if (!fits_executor(tensor->extents(), tensor->dtype()))
    throw NotSupported(
        "the graph executor holds tensors of up to 64 axes of 2147483647 elements and 64 TiB, found " +
        type_text(Type(tensor)));
  out.push_back(tensor);
}

std::vector<const TensorTypeNode*> tensors_of(const Type& type) {
  std::vector<const TensorTypeNode*> out;
  flatten(type, out);
  return out;
}

bool is_on_device(const Expr& expr) {
  const auto* call = as<CallNode>(expr);
  return call && call->op() && call->op()->name == "on_device";
}

std::vector<uint32_t> ids_of(const OriginTable& table, std::span<const Origin* const> origins) {
  std::vector<uint32_t> ids;
  for (const Origin* origin : origins)
    if (const auto id = table.find(origin)) ids.push_back(index(*id));
  std::sort(ids.begin(), ids.end());
  return ids;
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
    graph_->heads = entries_at(main->body());
    const Status status = graph_->set_storages();
    BATON_CHECK(status.ok(), "our own plan is refused: " + status.message);
    plan_.graph = std::move(graph_);
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
        const auto* type = as_type<TupleTypeNode>(type_of(item->tuple()));
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
    if (fresh) at->second.resize(tensors_of(type_of(value)).size());
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
        const auto& fields = as_type<TupleTypeNode>(type_of(item.tuple()))->fields();
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
  Entries add_node(PlanNode node, PlannedNode planned, const Type& type) {
    node.first_entry = static_cast<EntryId>(graph_->entries.size());
    Entries made;
    for (const TensorTypeNode* tensor : tensors_of(type)) {
      made.push_back(static_cast<EntryId>(graph_->entries.size()));
      PlanEntry& entry = graph_->entries.emplace_back();
      entry.shape = tensor->extents();
      entry.dtype = tensor->dtype();
    }
    node.num_outputs = static_cast<uint32_t>(made.size());
    graph_->nodes.push_back(std::move(node));
    plan_.nodes.push_back(std::move(planned));
    return made;
  }

  /// An input or a constant: its storage is its own for ever.
  Entries add_kept(std::string name, OriginSet origins, const Type& type) {
    graph_->arg_nodes.push_back(static_cast<uint32_t>(graph_->nodes.size()));
    PlanNode node;
    node.name = std::move(name);
    const Entries made = add_node(std::move(node), {-1, {}, std::move(origins)}, type);
    PlanEntry& entry = graph_->entries[made[0]];
    entry.storage = storage_.keep(static_cast<int64_t>(entry.bytes()));
    return made;
  }

  void add_input(const Var& param) {
    const Type type = type_of(Expr(param));
    if (!as_type<TensorTypeNode>(type))
      throw NotSupported("input `" + param->name() +
                         "` is no tensor: " + (type ? type_text(type) : "not typed"));
    values_[param.get()] = add_kept(param->name(), OriginSet::none(), type);
  }

  void add_constant(const ConstantNode& constant) {
    std::string name = "p" + std::to_string(plan_.params.size());
    plan_.params.emplace_back(name, constant.value());
    values_[&constant] = add_kept(std::move(name), constant.origins(), constant.checked_type());
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
    const AttrValue* reshape_only = function->attr("relay.reshape_only");
    const bool in_place = reshape_only && reshape_only->as<int64_t>() && *reshape_only->as<int64_t>() == 1 &&
                          inputs.size() == 1;
    const int kernel = kernel_of(function);
    plan_.kernels[kernel].called |= !in_place;
    PlanNode node;
    node.kind = in_place ? PlanNode::Kind::kNop : PlanNode::Kind::kKernel;
    node.func_name = in_place ? "__nop" : plan_.kernels[kernel].func_name;
    node.name = in_place ? "reshape_nop" : node_names_.make(node.func_name);  // all of them, as in TVM
    node.inputs = inputs;
    node.attrs = attrs_of(function);
    node.origins = ids_of(module_->origins(), call.origins().origins());
    node.made_for = ids_of(module_->origins(), call.origins().causes());
    node.reason = call.origins().reason();
    const Entries made = add_node(std::move(node), {kernel, function, call.origins()}, call.checked_type());
    give_storage(Expr(&call), made, inputs, in_place);
    values_[&call] = made;
  }

  void give_storage(const Expr& call, const Entries& made, const Entries& inputs, bool in_place) {
    const std::vector<int>& reads = reads_of(call);
    for (size_t i = 0; i < made.size(); ++i) {
      PlanEntry& entry = graph_->entries[made[i]];
      if (in_place) {
        entry.storage = graph_->entries[inputs[0]].storage;
        storage_.share(entry.storage, reads[i]);
      } else {
        entry.storage = storage_.request(static_cast<int64_t>(entry.bytes()), reads[i], entry.device_type);
      }
    }
    for (EntryId entry : made) storage_.written(graph_->entries[entry].storage);
    for (EntryId input : inputs) storage_.read(graph_->entries[input].storage);
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

  /// hash and layouts (LabelOps sets them; a function without it gets the hash).
  static std::vector<std::pair<std::string, std::string>> attrs_of(const Function& function) {
    std::vector<std::pair<std::string, std::string>> attrs;
    for (const auto& [name, value] : function->attrs())
      if (const auto* text = value.as<std::string>()) attrs.emplace_back(name, *text);
    if (!function->attr("hash")) {
      char hash[24];
      std::snprintf(hash, sizeof hash, "%016llx",
                    static_cast<unsigned long long>(structural_hash(Expr(function))));
      attrs.emplace_back("hash", hash);
    }
    return attrs;
  }

  static void append(Entries& to, const Entries& from) { to.insert(to.end(), from.begin(), from.end()); }

  const IRModule& module_;
  std::string mod_name_;
  GraphPlan plan_;
  std::shared_ptr<Plan> graph_ = std::make_shared<Plan>();
  std::unordered_map<const ExprNode*, Entries> values_;
  std::unordered_map<const ExprNode*, Expr> lets_;  // what variables are bound to
  std::unordered_map<const ExprNode*, std::vector<int>> reads_;
  std::unordered_map<uint64_t, std::vector<int>> kernels_by_hash_;
  UniqueNames kernel_names_, node_names_;
  StoragePlanner storage_;
};

}  // namespace

GraphPlan make_plan(const IRModule& module, const std::string& mod_name) {
  return Planner(module, mod_name).run();
}

}  // namespace baton
