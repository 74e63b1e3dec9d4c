#include "baton/campaign/patterns/patterns.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "baton/ir/inspect.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/profile/record/work.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

bool is_usable(const Function& function) {
  bool usable = true, moves = false;
  post_order(function->body(), [&](const Expr& node) {
    if (const auto* constant = as<ConstantNode>(node)) usable &= constant->value().shape().empty();
    if (node->kind() == ExprKind::kFunction || node->kind() == ExprKind::kLet) usable = false;
    const auto* call = as<CallNode>(node);
    if (!call) return;
    moves |= call->op() && !call->op()->reshape_only;
    usable &= call->op() && !call->args().empty() && !call->op()->non_computational && !call->op()->stateful;
    for (const TensorTypeNode* type : flat_types(call->checked_type())) usable &= type->is_static();
  });
  for (const Var& param : function->params()) {
    const auto* type = tensor_type_of(param);
    usable &= type && type->is_static();
  }
  return usable && moves && as<CallNode>(function->body());
}

Type type_of_param(const VarNode& param) {
  return param.annotation() ? param.annotation() : param.checked_type();
}

/// The function of `body` with those of `params` that it uses.
KernelPattern pattern_of(const Expr& body, const std::vector<Var>& params, const std::vector<bool>& weights,
                         const std::string& family) {
  std::set<const ExprNode*> used;
  post_order(body, [&](const Expr& node) { used.insert(node.get()); });
  KernelPattern pattern{{}, {}, family};
  std::vector<Var> kept;
  for (size_t i = 0; i < params.size(); ++i) {
    if (!used.contains(params[i].get())) continue;
    kept.push_back(params[i]);
    pattern.weights.push_back(weights[i]);
  }
  const Function function = make_function(kept, body, {}, {}, NodeInfo(OriginSet::none()));
  pattern.function = as_ref<FunctionNode>(infer_type(Expr(function)));
  return pattern;
}

}  // namespace

std::vector<KernelPattern> patterns_of(const IRModule& module, const std::string& family,
                                       const BuildContext& context) {
  IRModule fused = module->copy();
  for (const char* pass : {"ToBasicBlockNormalForm", "SimplifyInference", "FoldConstant", "SimplifyExpr",
                           "InferType", "FuseOps", "InferType"})
    fused = (*make_pass(pass))(fused, context);
  std::vector<KernelPattern> patterns;
  std::set<std::string> seen;
  post_order(fused->find("main")->body(), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    const auto* function = call ? as<FunctionNode>(call->callee()) : nullptr;
    if (!function || !function->is_primitive()) return;
    const Function plain =
        make_function(function->params(), function->body(), {}, {}, NodeInfo(OriginSet::none()));
    const Function typed = as_ref<FunctionNode>(infer_type(Expr(plain)));
    if (!is_usable(typed) || !seen.insert(canonical_text(typed)).second) return;
    KernelPattern& pattern = patterns.emplace_back(KernelPattern{typed, {}, family});
    for (const Expr& arg : call->args()) {
      const auto* var = as<VarNode>(arg);
      pattern.weights.push_back(var && !var->name().starts_with("data"));
    }
  });
  return patterns;
}

std::vector<KernelPattern> single_operators(const KernelPattern& pattern) {
  std::vector<KernelPattern> singles;
  post_order(pattern.function->body(), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    if (!call) return;
    // Its operands become parameters; a tuple's fields each.
    std::vector<Var> params;
    std::vector<bool> weights;
    const std::function<Expr(const Expr&)> operand = [&](const Expr& arg) -> Expr {
      if (const auto* fields = as<TupleNode>(arg)) {
        std::vector<Expr> made;
        for (const Expr& field : fields->fields()) made.push_back(operand(field));
        return tuple(made);
      }
      if (as<ConstantNode>(arg)) return arg;
      bool weight = false;
      for (size_t i = 0; i < pattern.function->params().size(); ++i)
        weight |= pattern.function->params()[i].get() == arg.get() && pattern.weights[i];
      params.push_back(var("p" + std::to_string(params.size()), arg->checked_type()));
      weights.push_back(weight);
      return Expr(params.back());
    };
    std::vector<Expr> args;
    for (const Expr& arg : call->args()) {
      const auto* type = as_type<TupleTypeNode>(arg->checked_type());
      if (type && !as<TupleNode>(arg)) return;
      args.push_back(operand(arg));
    }
    singles.push_back(
        pattern_of(call_expr(call->callee(), args, call->attrs()), params, weights, pattern.family));
  });
  return singles;
}

std::optional<KernelPattern> with_epilogue(const KernelPattern& pattern, Choice& choose) {
  const CallNode* anchor = nullptr;
  post_order(pattern.function->body(), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    if (call && !anchor && call->op()->fuse == Fuse::kOutFusable) anchor = call;
  });
  if (!anchor) return std::nullopt;
  Expr body = Expr(Ref<const ExprNode>(anchor));
  const TensorTypeNode* type = tensor_type_of(body);
  if (!type) return std::nullopt;
  std::vector<Var> params(pattern.function->params().begin(), pattern.function->params().end());
  std::vector<bool> weights = pattern.weights;
  const auto param = [&](const std::vector<int64_t>& shape, bool weight) {
    params.push_back(var("e" + std::to_string(params.size()), tensor_type(shape, type->dtype())));
    weights.push_back(weight);
    return Expr(params.back());
  };
  const std::vector<int64_t> shape = type->extents();
  const size_t channels = shape.size() == 4 ? 1 : shape.size() - 1;
  std::vector<int64_t> bias{shape[channels]};
  if (shape.size() == 4) bias = {shape[1], 1, 1};
  if (choose.chance(0.7)) body = call("add", {body, param(bias, true)});
  if (choose.chance(0.3)) body = call("add", {body, param(shape, false)});
  switch (choose.index(8)) {
    case 0:
      break;
    case 1:
      body = call("sigmoid", {body});
      break;
    case 2:
      body = call("tanh", {body});
      break;
    case 3:
      body = call("multiply", {body, call("sigmoid", {body})});
      break;
    case 4: {
      const OpDef& clip = *find_op("clip");
      body = call("clip", {body}, make_attrs(*clip.attrs, {{"a_min", 0.0}, {"a_max", 6.0}}));
      break;
    }
    default:
      body = call("nn.relu", {body});
  }
  return pattern_of(body, params, weights, pattern.family);
}

IRModule program_of(const KernelPattern& pattern) {
  const Function& function = pattern.function;
  std::vector<Var> params;
  std::unordered_map<const ExprNode*, Expr> values;
  int data = 0, weight = 0;
  for (size_t i = 0; i < function->params().size(); ++i) {
    const std::string name = pattern.weights[i] ? "weight" + std::to_string(weight++)
                             : data++           ? "data" + std::to_string(data - 1)
                                                : "data";
    params.push_back(var(name, type_of_param(*function->params()[i])));
    values.emplace(function->params()[i].get(), Expr(params.back()));
  }
  // Calls anew, so that each is an operator of this program.
  const std::function<Expr(const Expr&)> made = [&](const Expr& node) -> Expr {
    if (const auto at = values.find(node.get()); at != values.end()) return at->second;
    Expr result = node;
    if (const auto* call = as<CallNode>(node)) {
      std::vector<Expr> args;
      for (const Expr& arg : call->args()) args.push_back(made(arg));
      result = call_expr(call->callee(), args, call->attrs());
    } else if (const auto* fields = as<TupleNode>(node)) {
      std::vector<Expr> all;
      for (const Expr& field : fields->fields()) all.push_back(made(field));
      result = tuple(all);
    } else if (const auto* item = as<TupleGetItemNode>(node)) {
      result = get_item(made(item->tuple()), item->index());
    }
    return values.emplace(node.get(), result).first->second;
  };
  const Expr body = made(function->body());
  const IRModule module = make_module();
  module->set("main", baton::function(params, body));
  return infer_types(module);
}

std::string operators_text(const KernelPattern& pattern) {
  std::string text;
  post_order(pattern.function->body(), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    if (call && call->op()) text += (text.empty() ? "" : " ") + call->op()->name;
  });
  return text;
}

}  // namespace baton
