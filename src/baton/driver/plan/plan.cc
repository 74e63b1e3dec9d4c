#include "baton/driver/plan/plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "baton/driver/plan/kernel_names.h"
#include "baton/driver/plan/planned_kernels.h"
#include "baton/driver/plan/storage.h"
#include "baton/ir/op.h"
#include "baton/ir/placement.h"
#include "baton/ir/visit.h"

namespace baton {
namespace {

using Entries = std::vector<EntryId>;

constexpr const char* kByMachine =
    ": `baton run` and `baton build`, in Python relay.vm.compile, make a program of the virtual machine of "
    "it";

/// " of `conv1`", where the source names what the call comes from.
std::string at_origin(const CallNode& call) {
  for (const Origin* each : call.origins().origins())
    if (!each->source_name().empty()) return " of `" + each->source_name() + "`";
  return "";
}

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
    throw NotSupported("the graph executor needs constant shapes, found " + type_text(Type(tensor)) +
                       "; give every extent a number, with relay.transform.FreezeShapes or --shape" +
                       kByMachine);
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

class Planner {
 public:
  Planner(const IRModule& module, std::string mod_name, PlaceKernel place)
      : module_(module), kernels_(plan_.kernels, std::move(mod_name)), place_(std::move(place)) {
    if (!place_) place_ = [](const FunctionNode&, int around) { return KernelPlace{"", around}; };
  }

  GraphPlan run() {
    const Function main = module_->find("main");
    if (!main) throw Error("the module has no function `main`");
    post_order(
        main->body(),
        [&](const Expr& node) {
          if (const auto* let = as<LetNode>(node)) lets_[let->var().get()] = let->value();
        },
        [](const Expr& node) { return node->kind() != ExprKind::kFunction; });
    devices_ = value_devices(*module_, *main, place_);
    for (const Var& param : main->params()) add_input(param);
    post_order(
        main->body(), [&](const Expr& node) { visit(node); },
        [](const Expr& node) { return node->kind() != ExprKind::kFunction; });
    graph_->heads = entries_at(main->body());
    // A region on another device leaves its result there; the caller expects it where main says.
    const VirtualDevice* wanted = result_device(*main);
    for (EntryId& head : graph_->heads)
      if (wanted && wanted->device_type > 0 && graph_->entries[head].device_type != wanted->device_type)
        head = copied(head, wanted->device_type, {}, OriginSet::none());
    finish_copies();
    plan_storages(*graph_);
    const Status status = graph_->set_storages();
    BATON_CHECK(status.ok(), "our own plan is refused: " + status.message);
    plan_.graph = std::move(graph_);
    return std::move(plan_);
  }

 private:
  /// `value` without lets, let-bound variables and on_device: graphs have no names, and the device is known
  /// separately.
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

  void visit(const Expr& node) {
    switch (node->kind()) {
      case ExprKind::kVar:
        if (!values_.count(node.get()) && !lets_.count(node.get()))
          throw NotSupported("`main` uses a variable that is none of its parameters: " +
                             as<VarNode>(node)->name());
        return;
      case ExprKind::kConstant:
        values_[node.get()] = add_constant(*as<ConstantNode>(node), device_of(node.get()));
        return;
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
        throw NotSupported(std::string("the graph executor does not support control flow (found an if)") +
                           kByMachine);
      case ExprKind::kMatch:
        throw NotSupported(std::string("the graph executor does not support control flow (found a match)") +
                           kByMachine);
      case ExprKind::kRefCreate:
      case ExprKind::kRefRead:
      case ExprKind::kRefWrite:
        throw NotSupported("the graph executor does not support references");
      case ExprKind::kLet:  // its value and body are visited separately
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

  /// The device of a value.
  int device_of(const ExprNode* value) const {
    const int* device = devices_.find(value);
    return device ? *device : 1;
  }

  /// Appends a node on `device`, with one entry per tensor of `type`.
  Entries add_node(PlanNode node, PlannedNode planned, const Type& type, int device) {
    node.first_entry = static_cast<EntryId>(graph_->entries.size());
    Entries made;
    for (const TensorTypeNode* tensor : tensors_of(type)) {
      made.push_back(static_cast<EntryId>(graph_->entries.size()));
      PlanEntry& entry = graph_->entries.emplace_back();
      entry.shape = tensor->extents();
      entry.dtype = tensor->dtype();
      entry.device_type = device;
    }
    node.num_outputs = static_cast<uint32_t>(made.size());
    graph_->nodes.push_back(std::move(node));
    plan_.nodes.push_back(std::move(planned));
    return made;
  }

  /// Appends an input or a constant.
  Entries add_kept(std::string name, OriginSet origins, const Type& type, int device) {
    graph_->arg_nodes.push_back(static_cast<uint32_t>(graph_->nodes.size()));
    PlanNode node;
    node.name = std::move(name);
    return add_node(std::move(node), {-1, {}, std::move(origins)}, type, device);
  }

  void add_input(const Var& param) {
    const Type type = type_of(Expr(param));
    if (!as_type<TensorTypeNode>(type))
      throw NotSupported("input `" + param->name() +
                         "` is no tensor: " + (type ? type_text(type) : "not typed"));
    input_names_.insert(param->name());
    values_[param.get()] = add_kept(param->name(), OriginSet::none(), type, device_of(param.get()));
  }

  Entries add_constant(const ConstantNode& constant, int device) {
    // As in TVM: p0, p1, ..., but never the name of an input.
    std::string name;
    do name = "p" + std::to_string(next_constant_++);
    while (input_names_.count(name));
    plan_.params.emplace_back(name, constant.value());
    const Entries made = add_kept(std::move(name), constant.origins(), constant.checked_type(), device);
    constants_[made[0]] = &constant;
    return made;
  }

  Function callee_of(const CallNode& call) const {
    if (const Function function = kernel_called(*module_, call)) return function;
    if (call.op() && call.op()->data_dependent)
      throw NotSupported("operator " + call.op()->name + at_origin(call) +
                         " needs the values of its inputs, such as axes or sizes, which are not known before "
                         "the program runs; make them constants of the model" +
                         kByMachine);
    if (call.op())
      throw NotSupported("operator " + call.op()->name + " stands outside of any kernel: run FuseOps first");
    throw NotSupported("the graph executor calls kernels only, not functions");
  }

  void add_call(const CallNode& call) {
    const Function function = callee_of(call);
    Entries inputs;
    for (const Expr& arg : call.args()) append(inputs, entries_at(arg));
    const int device = device_of(&call);
    if (device_copy_of(*function)) {
      for (EntryId& input : inputs) input = copied(input, device, function, call.origins());
      values_[&call] = inputs;
      return;
    }
    for (EntryId& input : inputs)
      if (graph_->entries[input].device_type != device) input = copied(input, device, {}, call.origins());
    const AttrValue* reshape_only = function->attr("relay.reshape_only");
    const bool in_place = reshape_only && reshape_only->as<int64_t>() && *reshape_only->as<int64_t>() == 1 &&
                          inputs.size() == 1;
    const int kernel = kernels_.of(function, place_(*function, device));
    plan_.kernels[kernel].called |= !in_place;
    PlanNode node;
    node.kind = in_place ? PlanNode::Kind::kNop : PlanNode::Kind::kKernel;
    node.func_name = in_place ? "__nop" : plan_.kernels[kernel].func_name;
    node.name =
        in_place ? "reshape_nop" : node_names_.make(node.func_name);  // the same name for all, as in TVM
    if (!in_place) node.backend = plan_.kernels[kernel].place.backend;
    node.inputs = std::move(inputs);
    set_kernel_attrs(node, function);
    set_origins(node, module_->origins(), call.origins());
    values_[&call] =
        add_node(std::move(node), {kernel, function, call.origins()}, call.checked_type(), device);
  }

  // ---- Copies between devices.

  /// A copy of one tensor to another device, for calls of device_copy in the program and for users on another
  /// device.
  struct Copy {
    uint32_t node;
    Type type;
    Function function;  // of the first such call; null: inserted by the planner
    OriginSet asked = OriginSet::none(), causes = OriginSet::none();
  };

  /// The tensor on `device`, copied there at most once; constants are duplicated. `asked`: the function of
  /// the device_copy call that `reader` represents; null for other users.
  EntryId copied(EntryId entry, int device, const Function& asked, const OriginSet& reader) {
    const auto [at, fresh] = copies_.try_emplace({entry, device}, copy_nodes_.size());
    if (fresh) {
      const auto constant = constants_.find(entry);
      if (constant != constants_.end() && !asked) {
        copy_nodes_.push_back({graph_->maker_of(add_constant(*constant->second, device)[0]), {}, {}});
      } else {
        PlanNode node;
        node.kind = PlanNode::Kind::kCopy;
        node.func_name = "__copy";
        node.name = node_names_.make(node.func_name);
        node.inputs = {entry};
        const Type type = tensor_type(graph_->entries[entry].shape, graph_->entries[entry].dtype);
        const Entries made = add_node(std::move(node), {}, type, device);
        copy_nodes_.push_back({graph_->maker_of(made[0]), type, {}});
        copy_nodes_.back().causes = plan_.nodes[graph_->maker_of(entry)].origins;
      }
    }
    Copy& copy = copy_nodes_[at->second];
    if (asked) {
      if (!copy.function) copy.function = asked;
      copy.asked = copy.asked.merge(reader);
    } else {
      copy.causes = copy.causes.merge(reader);
    }
    return graph_->nodes[copy.node].first_entry;
  }

  /// Adds users' origins to the copies, once all users are known.
  void finish_copies() {
    for (Copy& copy : copy_nodes_) {
      PlanNode& node = graph_->nodes[copy.node];
      if (node.kind != PlanNode::Kind::kCopy) continue;  // a constant
      const int from = graph_->entries[node.inputs[0]].device_type;
      const int to = graph_->entries[node.first_entry].device_type;
      OriginSet origins = copy.asked;
      if (origins.empty() && !copy.causes.empty())
        origins = OriginSet::made_for(copy.causes, copy_reason({from, to}));
      if (!copy.function) copy.function = make_device_copy(copy.type, {from, to}, origins);
      const int kernel = kernels_.of(copy.function, {"", to});
      set_kernel_attrs(node, copy.function);
      set_origins(node, module_->origins(), origins);
      plan_.nodes[copy.node] = {kernel, copy.function, origins};
    }
  }

  static void append(Entries& to, const Entries& from) { to.insert(to.end(), from.begin(), from.end()); }

  const IRModule& module_;
  GraphPlan plan_;
  PlannedKernels kernels_;
  std::shared_ptr<Plan> graph_ = std::make_shared<Plan>();
  std::unordered_map<const ExprNode*, Entries> values_;
  std::unordered_map<const ExprNode*, Expr> lets_;  // values of let-bound variables
  PlaceKernel place_;
  PointerMap<int> devices_;
  std::unordered_map<EntryId, const ConstantNode*> constants_;
  std::set<std::string> input_names_;
  int next_constant_ = 0;
  std::map<std::pair<EntryId, int>, size_t> copies_;  // tensor and device -> index into copy_nodes_
  std::vector<Copy> copy_nodes_;
  UniqueNames node_names_;
};

}  // namespace

GraphPlan make_plan(const IRModule& module, const std::string& mod_name, PlaceKernel place) {
  return Planner(module, mod_name, std::move(place)).run();
}

}  // namespace baton
