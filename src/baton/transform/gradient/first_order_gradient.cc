// First-order reverse-mode differentiation of dataflow. Every value and a zero adjoint are bound in
// evaluation order; then the operators are visited in reverse, each adding to its arguments' adjoints:
//   fn(x) { f(x) }
//   ->  fn(x) { let x1 = x; let dx = zeros_like(x1); let y = f(x1); let dy = zeros_like(y);
//               (y, let dx1 = add(dx, adjoint of x in f, for ones_like(y)); (dx1,)) }
#include "baton/ir/build.h"
#include "baton/ir/let_list.h"
#include "baton/ir/variables.h"
#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"
#include "baton/support/error.h"
#include "baton/transform/gradient/gradient.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

// (fn (p) { body })(a) -> let p = a; body, with fresh variables for each call. Kernels and external-compiler
// functions are inlined too: their bodies define what they compute.
class CallInliner final : public Rewriter {
  bool enter(const Expr&) override { return true; }
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const auto* call = as<CallNode>(rebuilt);
    const auto* function = call ? as<FunctionNode>(call->callee()) : nullptr;
    if (!function) return rebuilt;
    std::unordered_map<const ExprNode*, Expr> fresh;
    for (const Var& var : bound_vars(call->callee()))
      fresh.emplace(var.get(), Expr(make_var(var->name(), var->annotation(), var->info())));
    Expr body = substitute(function->body(), fresh);
    for (size_t i = call->args().size(); i-- > 0;) {
      Var param = as_ref<VarNode>(fresh.at(function->params()[i].get()));
      body = make_let(std::move(param), call->args()[i], std::move(body),
                      NodeInfo(OriginSet::none(), {}, original->checked_type()));
    }
    return body;
  }
};

Expr inlined(const Expr& body, const IRModule& module) {
  const Expr result = CallInliner().run(body);
  return result == body ? body : infer_type(result, module.get());
}

class FirstOrder {
 public:
  FirstOrder(const Function& function, const IRModule& module)
      : function_(function),
        body_(inlined(function->body(), module)),
        causes_(body_, module),
        forward_(fresh_),
        backward_(fresh_) {}

  Function run() {
    std::vector<size_t> params;
    for (const Var& param : function_->params()) {
      const CauseScope scope(causes_.seed(Expr(param)));
      params.push_back(bind(Expr(param), param->checked_type()));
      values_of_.insert(param.get(), params.back());
    }
    const size_t result = evaluate(body_);
    {
      const CauseScope scope(causes_.seed(body_));
      values_[result].adjoint = filled(values_[result].value, values_[result].type, true);
    }
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) go_back(*step);

    std::vector<Expr> adjoints;
    std::vector<Type> types;
    for (const size_t param : params) {
      adjoints.push_back(values_[param].adjoint);
      types.push_back(values_[param].type);
    }
    const NodeInfo none(OriginSet::none());
    const Expr gradients = backward_.close(make_tuple(std::move(adjoints), none));
    const Expr pair = forward_.close(make_tuple({values_[result].value, gradients}, none));
    const Type type = tuple_type({values_[result].type, tuple_type(std::move(types))});
    return make_function(function_->params(), pair, type, {},
                         NodeInfo(function_->origins(), function_->span()));
  }

 private:
  // A value and its accumulated adjoint.
  struct Value {
    Expr value, adjoint;
    Type type;
  };
  // An evaluated node and its operand values.
  struct Step {
    Expr node, value;  // value: a call over bound values, typed
    size_t result;
    std::vector<size_t> operands;
  };
  struct Frame {
    Expr node;
    std::vector<size_t> operands;
  };

  size_t bind(const Expr& value, const Type& type) {
    Expr bound = forward_.push(value, type);
    Expr zero = forward_.push(filled(bound, type, false));
    values_.push_back({std::move(bound), std::move(zero), type});
    return values_.size() - 1;
  }

  // Zeros or ones of a type; for a tuple made from the type alone where that is static.
  static Expr filled(const Expr& like, const Type& type, bool ones) {
    const auto* tuple = as_type<TupleTypeNode>(type);
    if (!tuple) return Expr(call_op(ones ? "ones_like" : "zeros_like", {like}));
    std::vector<Expr> fields;
    for (size_t i = 0; i < tuple->fields().size(); ++i) {
      const Type& field = tuple->fields()[i];
      const auto* tensor = as_type<TensorTypeNode>(field);
      if (tensor && tensor->is_static())
        fields.emplace_back(call_op(ones ? "ones" : "zeros", {},
                                    {{"shape", AttrValue(tensor->extents())}, {"dtype", tensor->dtype()}}));
      else
        fields.push_back(filled(get_item(like, static_cast<int>(i)), field, ones));
    }
    return make_tuple(std::move(fields), NodeInfo(OriginSet::none()));
  }

  // The operands of a node; a let's value before its body.
  static const Expr* operand(const ExprNode& node, size_t at) {
    if (const auto* call = as<CallNode>(&node)) return at < call->args().size() ? &call->args()[at] : nullptr;
    if (const auto* tuple = as<TupleNode>(&node))
      return at < tuple->fields().size() ? &tuple->fields()[at] : nullptr;
    if (const auto* item = as<TupleGetItemNode>(&node)) return at == 0 ? &item->tuple() : nullptr;
    if (const auto* let = as<LetNode>(&node))
      return at == 0 ? &let->value() : at == 1 ? &let->body() : nullptr;
    return nullptr;
  }

  static void check(const ExprNode& node) {
    const char* what = nullptr;
    switch (node.kind()) {
      case ExprKind::kVar:
      case ExprKind::kConstant:
      case ExprKind::kTuple:
      case ExprKind::kTupleGetItem:
      case ExprKind::kLet:
        return;
      case ExprKind::kCall:
        if (static_cast<const CallNode&>(node).op()) return;
        what = "a call of a function that is not given on the spot";
        break;
      case ExprKind::kIf:
        what = "if";
        break;
      case ExprKind::kMatch:
        what = "match";
        break;
      case ExprKind::kRefCreate:
      case ExprKind::kRefRead:
      case ExprKind::kRefWrite:
        what = "references";
        break;
      case ExprKind::kGlobalVar:
      case ExprKind::kFunction:
      case ExprKind::kOp:
      case ExprKind::kConstructor:
        what = "functions as values";
        break;
    }
    throw NotSupported("the first-order gradient is for dataflow, not for " + std::string(what) +
                       (node.span() ? " at " + node.span().text() : "") + "; use mode=\"higher_order\"");
  }

  size_t evaluate(const Expr& root) {
    std::vector<Frame> stack;
    stack.push_back({root, {}});
    check(*root);
    for (;;) {
      Frame& frame = stack.back();
      if (const size_t* known = values_of_.find(frame.node.get())) {
        const size_t value = *known;
        stack.pop_back();
        if (stack.empty()) return value;
        Frame& user = stack.back();
        if (const auto* let = as<LetNode>(user.node); let && user.operands.empty())
          values_of_.insert(let->var().get(), value);
        user.operands.push_back(value);
      } else if (const Expr* next = operand(*frame.node, frame.operands.size())) {
        check(**next);
        stack.push_back({*next, {}});
      } else {
        values_of_.insert(frame.node.get(), finish(frame));
      }
    }
  }

  size_t finish(Frame& frame) {
    const Expr& node = frame.node;
    if (node->kind() == ExprKind::kLet) return frame.operands[1];
    if (node->kind() == ExprKind::kVar)
      throw NotSupported("the gradient of a function that uses %" +
                         static_cast<const VarNode&>(*node).name() + " from around it");
    const Type& type = node->checked_type();
    BATON_CHECK(type, "the gradient of something without a type");
    if (node->kind() == ExprKind::kConstant) {
      const CauseScope scope(causes_.seed(node));
      return bind(node, type);
    }
    std::vector<Expr> operands;
    for (const size_t value : frame.operands) operands.push_back(values_[value].value);
    Expr value;
    if (const auto* call = as<CallNode>(node))
      value = Expr(make_call(call->callee(), std::move(operands), call->attrs(), node->info()));
    else if (const auto* item = as<TupleGetItemNode>(node))
      value = make_tuple_get_item(operands[0], item->index(), node->info());
    else
      value = make_tuple(std::move(operands), node->info());
    const CauseScope scope(causes_.own(node));
    const size_t result = bind(value, type);
    steps_.push_back({node, value, result, std::move(frame.operands)});
    return result;
  }

  void go_back(const Step& step) {
    const CauseScope scope(causes_.own(step.node));
    const Expr adjoint = values_[step.result].adjoint;
    if (const auto* item = as<TupleGetItemNode>(step.node)) {
      // Only the item's field of the tuple's adjoint changes.
      Value& tuple = values_[step.operands[0]];
      const auto& types = as_type<TupleTypeNode>(tuple.type)->fields();
      std::vector<Expr> fields;
      for (size_t i = 0; i < types.size(); ++i) {
        Expr field = get_item(tuple.adjoint, static_cast<int>(i));
        fields.push_back(static_cast<int>(i) == item->index() ? added(types[i], field, adjoint) : field);
      }
      tuple.adjoint = backward_.push(make_tuple(std::move(fields), NodeInfo(OriginSet::none())));
      return;
    }
    if (step.node->kind() == ExprKind::kTuple) {
      for (size_t i = 0; i < step.operands.size(); ++i)
        add_to(step.operands[i], get_item(adjoint, static_cast<int>(i)));
      return;
    }
    const std::vector<Expr> adjoints = adjoints_of(as_ref<CallNode>(step.value), adjoint);
    for (size_t i = 0; i < step.operands.size(); ++i) add_to(step.operands[i], adjoints[i]);
  }

  void add_to(size_t value, const Expr& more) {
    values_[value].adjoint = added(values_[value].type, values_[value].adjoint, more);
  }

  // The sum, bound to a variable; for tuples field by field.
  Expr added(const Type& type, const Expr& adjoint, const Expr& more) {
    const auto* tuple = as_type<TupleTypeNode>(type);
    if (!tuple) return backward_.push(Expr(call_op("add", {adjoint, more})));
    std::vector<Expr> fields;
    for (size_t i = 0; i < tuple->fields().size(); ++i) {
      const Expr left = backward_.push(get_item(adjoint, static_cast<int>(i)));
      const Expr right = backward_.push(get_item(more, static_cast<int>(i)));
      fields.push_back(added(tuple->fields()[i], left, right));
    }
    return backward_.push(make_tuple(std::move(fields), NodeInfo(OriginSet::none())));
  }

  const Function& function_;
  const Expr body_;
  const GradientCauses causes_;
  FreshVars fresh_;
  LetList forward_, backward_;
  std::vector<Value> values_;
  std::vector<Step> steps_;
  PointerMap<size_t> values_of_;
};

}  // namespace

Function first_order_gradient(const Function& function, const IRModule& module) {
  return FirstOrder(function, module).run();
}

}  // namespace baton
