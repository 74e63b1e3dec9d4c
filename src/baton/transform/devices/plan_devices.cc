// Assigns every value a device. Constraints come from the program (on_device, device_copy, parameter
// devices): an operator's operands and result share a device; a call's arguments are on the devices of the
// callee's parameters; the parts of ifs, tuples and references share a device. Remaining values get the
// default device: a function's result first, then its parameters the device of its result, and a let's value
// that of the let.
//   tanh(on_device(exp(x), cuda))  ->  tanh(device_copy(on_device(exp(x), cuda, constrain_result=True), cuda,
//   cpu))
// Functions and parameters are annotated with devices; where a device does not follow from them, on_device
// states it.
#include "baton/transform/devices/plan_devices.h"

#include <algorithm>
#include <map>

#include "baton/ir/build.h"
#include "baton/ir/functions.h"
#include "baton/ir/placement.h"
#include "baton/ir/rules/placement_rule.h"
#include "baton/ir/visit.h"
#include "baton/pass/causes.h"
#include "baton/pass/rewriter.h"
#include "baton/transform/devices/device_domains.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

using Id = DeviceDomains::Id;

const VirtualDevice& device_attr(const CallNode& call, std::string_view name) {
  static const VirtualDevice open;
  const AttrValue value = call.attrs()->get(name);
  const auto* device = value.object<VirtualDeviceAttr>();  // owned by the call's attributes
  return device ? device->device() : open;
}

const PlacementRule* placement_rule(const CallNode& call) {
  return call.op() ? call.op()->rules.get<PlacementRule>() : nullptr;
}

/// The device that `call` names for a place; null where it leaves that open.
const VirtualDevice* named_device(const CallNode& call, const PlacementRule::Place& place) {
  if (place.at != PlacementRule::Place::At::kNamed) return nullptr;
  return place.when.empty() || bool_attr(call, place.when) ? &device_attr(call, place.device) : nullptr;
}

/// "add at net.relay:3"
std::string place(const CallNode& call) {
  const Span& span = call.span();
  if (!span) return place_of(call);
  return (call.op() ? call.op()->name : "a call") + " at " +
         (span.source ? span.source->name() + ":" : "line ") + std::to_string(span.line);
}

/// The device domains of all values of a module.
class Places {
 public:
  Places(const IRModuleNode& module, const CompilationConfig& config) : module_(module), config_(config) {
    for (const auto& [name, function] : module.functions())
      globals_[name] = domains_.for_type(function->checked_type());
    for (const auto& [name, function] : module.functions())
      if (has_places(*function)) analyse(name, function);
    for (const auto& [name, function] : module.functions())
      if (has_places(*function)) fill(function);
  }

  const VirtualDevice& of(const Expr& expr) { return domains_.device(domain(expr)); }
  /// The source device of an on_device or device_copy. Constants take the device of their use.
  VirtualDevice source(const CallNode& place) {
    if (place.args()[0]->kind() != ExprKind::kConstant) return of(place.args()[0]);
    const VirtualDevice* named = named_device(place, placement_rule(place)->args.at(0));
    return named ? config_.canonical(*named) : of(Expr(&place));
  }
  /// The types of the devices of all values, or of calls only.
  PointerMap<int> of_values(bool calls_only) {
    PointerMap<int> types;
    for (const auto& [name, function] : module_.functions())
      if (has_places(*function))
        post_order(
            Expr(function),
            [&](const Expr& node) {
              if (as<CallNode>(node) || (!calls_only && is_value(node)))
                types[node.get()] = of(node).device_type;
            },
            enters);
    return types;
  }
  /// Not an operator or a constant, which have a device for each use.
  static bool is_value(const Expr& node) {
    return node->kind() != ExprKind::kOp && node->kind() != ExprKind::kConstructor &&
           node->kind() != ExprKind::kConstant && node->kind() != ExprKind::kGlobalVar && enters(node);
  }
  /// The parameter devices of the callee.
  std::vector<VirtualDevice> wanted(const CallNode& call) {
    std::vector<VirtualDevice> devices;
    for (const Id param : domains_.params(domain(call.callee()))) devices.push_back(domains_.device(param));
    return devices;
  }
  /// Whether all operands and the result share a device: an operator, a constructor or a kernel.
  bool is_primitive(const Expr& callee) const {
    if (callee->kind() == ExprKind::kOp || callee->kind() == ExprKind::kConstructor) return true;
    if (const auto* function = as<FunctionNode>(callee)) return !has_places(*function);
    const auto* global = as<GlobalVarNode>(callee);
    const Function function = global ? module_.find(global->name()) : Function();
    return function && !has_places(*function);
  }

 private:
  Id domain(const Expr& expr) {
    if (const auto* global = as<GlobalVarNode>(expr)) return globals_.at(global->name());
    const ExprKind kind = expr->kind();
    if (kind == ExprKind::kConstant || kind == ExprKind::kOp || kind == ExprKind::kConstructor)
      return domains_.for_type(expr->checked_type());  // each use may have its own device
    if (const Id* known = ids_.find(expr.get())) return *known;
    return *ids_.insert(expr.get(), domains_.for_type(expr->checked_type())).first;
  }
  void one(const Expr& a, const Expr& b) { domains_.unify(domain(a), domain(b)); }
  void at(const Expr& expr, const VirtualDevice& device) {
    domains_.unify(domain(expr), domains_.fresh(config_.canonical(device)));
  }

  // ---- Constraints from the program

  void analyse(const std::string& name, const Function& function) {
    post_order(Expr(function), [&](const Expr& node) { constrain(node); }, enters);
    domains_.unify(globals_[name], domain(Expr(function)));
  }
  static bool enters(const Expr& node) {
    return !as<FunctionNode>(node) || has_places(*as<FunctionNode>(node));
  }

  void constrain(const Expr& node) {
    try {
      relate(node);
    } catch (const DeviceDomains::Conflict& conflict) {
      const auto* call = as<CallNode>(node);
      throw Error("PlanDevices: " + (call ? place(*call) : std::string("a let, branch, tuple or function")) +
                  " would be on two devices at once: " + conflict.left.text() + " and " +
                  conflict.right.text() + "; device_copy moves a value");
    }
  }

  void relate(const Expr& node) {
    switch (node->kind()) {
      case ExprKind::kCall:
        return relate_call(*as<CallNode>(node), node);
      case ExprKind::kFunction:
        return relate_function(*as<FunctionNode>(node), node);
      case ExprKind::kLet: {
        const auto* let = as<LetNode>(node);
        one(Expr(let->var()), let->value());
        return one(node, let->body());
      }
      case ExprKind::kIf: {
        const auto* branch = as<IfNode>(node);
        one(node, branch->then());
        one(node, branch->otherwise());
        return one(node, branch->condition());
      }
      case ExprKind::kMatch: {
        const auto* match = as<MatchNode>(node);
        one(node, match->data());
        for (const Clause& clause : match->clauses()) {
          for (const Var& var : pattern_vars(clause.pattern)) one(Expr(var), match->data());
          one(node, clause.body);
        }
        return;
      }
      case ExprKind::kTuple:
      case ExprKind::kTupleGetItem:
      case ExprKind::kRefCreate:
      case ExprKind::kRefRead:
      case ExprKind::kRefWrite:
        for_each_child(*node, [&](const Expr& child) { one(node, child); });
        return;
      case ExprKind::kVar:
      case ExprKind::kGlobalVar:
      case ExprKind::kConstant:
      case ExprKind::kConstructor:
      case ExprKind::kOp:
        return;
    }
  }

  void relate_function(const FunctionNode& function, const Expr& node) {
    if (!has_places(function)) return;
    std::vector<Id> params;
    for (size_t i = 0; i < function.params().size(); ++i) {
      params.push_back(domain(Expr(function.params()[i])));
      if (const VirtualDevice* device = param_device(function, i)) at(Expr(function.params()[i]), *device);
    }
    // A constant has a domain for each use: this one is that of the function's result.
    const Id result = domain(function.body());
    domains_.unify(domain(node), domains_.function(std::move(params), result));
    if (const VirtualDevice* device = result_device(function))
      domains_.unify(result, domains_.fresh(config_.canonical(*device)));
  }

  void relate_call(const CallNode& call, const Expr& node) {
    if (const PlacementRule* rule = placement_rule(call)) {
      for (size_t i = 0; i < call.args().size(); ++i)
        relate_place(call, call.args()[i], rule->args[std::min(i, rule->args.size() - 1)]);
      relate_place(call, node, rule->result);
    } else if (is_primitive(call.callee())) {
      for (const Expr& arg : call.args()) one(node, arg);
    } else {
      std::vector<Id> params;
      for (const Expr& arg : call.args()) params.push_back(domain(arg));
      domains_.unify(domain(call.callee()), domains_.function(std::move(params), domain(node)));
    }
  }

  /// `expr`, an argument of `call` or its result, is on the device where the operator needs or leaves it.
  void relate_place(const CallNode& call, const Expr& expr, const PlacementRule::Place& place) {
    using At = PlacementRule::Place::At;
    if (place.at == At::kHost) at(expr, config_.host_device);
    if (place.at == At::kWithResult) one(Expr(&call), expr);
    if (const VirtualDevice* device = named_device(call, place)) at(expr, *device);
  }

  // ---- Defaults

  void fill(const Function& function) {
    domains_.set_result_default_then_params(domain(Expr(function)), config_.default_device);
    std::vector<Expr> nodes;
    post_order(Expr(function), [&](const Expr& node) { nodes.push_back(node); }, enters);
    for (auto at = nodes.rbegin(); at != nodes.rend(); ++at) {  // users first
      if (const auto* let = as<LetNode>(*at)) domains_.set_default(domain(Expr(let->var())), of(*at));
      const auto* call = as<CallNode>(*at);
      if (call && !is_primitive(call->callee()))
        domains_.set_result_default_then_params(domain(call->callee()), config_.default_device);
      if ((call || as<FunctionNode>(*at)) && enters(*at))
        domains_.set_result_default_then_params(domain(*at), config_.default_device);
      if (!call) continue;
      for (const Expr& arg : call->args())
        if (arg->kind() != ExprKind::kConstant) domains_.set_default(domain(arg), of(*at));
    }
  }

  const IRModuleNode& module_;
  const CompilationConfig& config_;
  DeviceDomains domains_;
  std::map<std::string, Id> globals_;
  PointerMap<Id> ids_;
};

/// Writes the devices found by Places into the program.
class Planner final : public Rewriter {
 public:
  Planner(Places& places, const IRModuleNode& module, const Function& function)
      : places_(places), causes_(Expr(function), &module) {}

 private:
  void let_value(const LetNode& let, const Expr& value) override { causes_.bind(let.var(), value); }

  // Devices do not affect types.
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    switch (original->kind()) {
      case ExprKind::kCall:
        return with_type(rewrite_call(*as<CallNode>(original), *as<CallNode>(rebuilt)),
                         original->checked_type());
      case ExprKind::kLet: {
        const auto *was = as<LetNode>(original), *let = as<LetNode>(rebuilt);
        const Expr value = annotate_device(let->value(), places_.of(Expr(was->var())));
        return rebuilt == original && value == let->value()
                   ? rebuilt
                   : make_let(let->var(), value, let->body(), was->info());
      }
      case ExprKind::kFunction: {
        const auto* was = as<FunctionNode>(original);
        if (!has_places(*was)) return rebuilt;
        std::vector<VirtualDevice> params;
        for (const Var& param : was->params()) params.push_back(places_.of(Expr(param)));
        const auto* now = as<FunctionNode>(rebuilt);
        const Function typed = make_function(now->params(), now->body(), was->ret_type(), was->attrs(),
                                             was->info(), was->type_params());
        return Expr(with_devices(typed, params, places_.of(original)));
      }
      default:
        return with_type(rebuilt, original->checked_type());
    }
  }

  Expr rewrite_call(const CallNode& original, const CallNode& call) {
    if (const PlacementRule* rule = placement_rule(call); rule && rule->is_border) {
      const VirtualDevice from = places_.source(original), to = places_.of(Expr(&original));
      if (from == to) {
        retire(original.origins(), "the places of functions and parameters say where its value is");
        return call.args()[0];
      }
      return call_op("device_copy", {annotate_device(call.args()[0], from)},
                     {{"src_virtual_device", virtual_device_attr(from)},
                      {"dst_virtual_device", virtual_device_attr(to)}});
    }
    if (places_.is_primitive(original.callee())) return Expr(&call);
    const VirtualDevice here = places_.of(Expr(&original));
    const std::vector<VirtualDevice> wanted = places_.wanted(original);
    std::vector<Expr> args = call.args();
    for (size_t i = 0; i < args.size() && i < wanted.size(); ++i)
      if (!(wanted[i] == here)) args[i] = annotate_device(args[i], wanted[i]);
    return args == call.args()
               ? Expr(&call)
               : Expr(make_call(call.callee(), std::move(args), call.attrs(), original.with_type({})));
  }

  /// `expr` wrapped in on_device, unless its device follows from its binding or definition.
  Expr annotate_device(const Expr& expr, const VirtualDevice& device) {
    switch (expr->kind()) {
      case ExprKind::kVar:
      case ExprKind::kGlobalVar:
      case ExprKind::kFunction:
      case ExprKind::kConstructor:
      case ExprKind::kOp:
        return expr;
      default:
        break;
    }
    const OriginSet made = causes_.made_for(expr, "the program says where its value is");
    static const Expr op = op_expr(*find_op("on_device"));
    return make_call(op, {expr}, said_attrs(device), NodeInfo(made, expr->span(), expr->checked_type()));
  }

  const Attrs& said_attrs(const VirtualDevice& device) {
    for (const auto& [known, attrs] : said_attrs_)
      if (known == device) return attrs;
    const AttrSchema& schema = *find_op("on_device")->attrs;
    return said_attrs_
        .emplace_back(device, make_attrs(schema, {{"virtual_device", virtual_device_attr(device)},
                                                  {"constrain_result", true}}))
        .second;
  }

  Places& places_;
  Causes causes_;
  std::vector<std::pair<VirtualDevice, Attrs>> said_attrs_;  // a small cache
};

}  // namespace

bool has_places(const FunctionNode& function) {
  return !is_closed(function) && !function.attr("Extern") && !function.attr("SkipOptimization");
}

PointerMap<int> devices_of_calls(const IRModuleNode& module, const CompilationConfig& config) {
  return Places(module, config).of_values(true);
}

PointerMap<int> devices_of_values(const IRModuleNode& module, const CompilationConfig& config) {
  return Places(module, config).of_values(false);
}

Pass plan_devices_core(std::function<CompilationConfig(const PassContext&)> config_for) {
  return module_pass(
      {0, "PlanDevicesCore", {}},
      [config_for](IRModule module, const PassContext& context) {
        const CompilationConfig config = config_for(context);
        module = infer_types(std::move(module));
        Places places(*module, config);
        std::vector<std::pair<std::string, Function>> updates;
        for (const auto& [name, function] : module->functions())
          if (has_places(*function))
            updates.emplace_back(
                name, as_ref<FunctionNode>(Planner(places, *module, function).run(Expr(function))));
        for (auto& [name, function] : updates) module->replace(name, std::move(function));
        return infer_types(std::move(module));
      },
      /*may_retire=*/true);
}

Pass plan_devices(const PassArgs& args) {
  PassArgReader reader("PlanDevices", args);
  const std::vector<std::string> targets = reader.texts("targets", {"llvm"});
  const std::string host = reader.text("host", "");
  const int64_t fallback = reader.integer("fallback_device_type", 0, 0, INT32_MAX);
  reader.finish();
  // The context's options are known only when the pass runs; invalid targets are rejected immediately.
  const auto config_for = [targets, host, fallback](PassContext context) {
    if (fallback > 0) context.config.set("relay.fallback_device_type", fallback);
    return CompilationConfig::make(context, targets, host);
  };
  config_for({});
  return sequential({plan_devices_rewrite(), plan_devices_core(config_for)}, "PlanDevices");
}

}  // namespace baton
