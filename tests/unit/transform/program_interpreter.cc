#include "transform/program_interpreter.h"

#include <unordered_map>

#include "baton/codegen/evaluator.h"
#include "baton/ir/op.h"
#include "baton/support/error.h"

namespace baton::run {

/// Values of variables, and of the nodes that were evaluated already, of one call of a function.
struct Frame {
  std::unordered_map<const ExprNode*, Value> values;
  Frame* outer = nullptr;

  const Value* find(const ExprNode* node) const {
    for (const Frame* frame = this; frame; frame = frame->outer)
      if (const auto at = frame->values.find(node); at != frame->values.end()) return &at->second;
    return nullptr;
  }
};

namespace {

class Interpreter {
 public:
  explicit Interpreter(const IRModuleNode& module) : module_(module), evaluator_(make_evaluator()) {}

  Value apply(const Value& callee, const std::vector<Value>& args) {
    const auto* function = as<FunctionNode>(callee.callable);
    BATON_CHECK(function && function->params().size() == args.size(), "a call of something else");
    frames_.push_back(std::make_unique<Frame>());
    Frame& frame = *frames_.back();
    frame.outer = callee.frame;
    for (size_t i = 0; i < args.size(); ++i) frame.values[function->params()[i].get()] = args[i];
    return evaluate(function->body(), frame);
  }

  Value global(const std::string& name) const {
    Value value;
    value.callable = Expr(module_.find(name));
    BATON_CHECK(value.callable, "no function @" + name);
    return value;
  }

 private:
  Value evaluate(const Expr& start, Frame& frame) {
    // Lets in a row are gone through in a loop.
    const ExprNode* expr = start.get();
    while (const auto* let = as<LetNode>(expr)) {
      Value value = evaluate(let->value(), frame);
      frame.values[let->var().get()] = std::move(value);
      expr = let->body().get();
    }
    if (const Value* known = frame.find(expr)) return *known;
    Value value = compute(*expr, frame);
    frame.values[expr] = value;
    return value;
  }

  Value compute(const ExprNode& node, Frame& frame) {
    switch (node.kind()) {
      case ExprKind::kVar:
        throw Error("%" + static_cast<const VarNode&>(node).name() + " has no value");
      case ExprKind::kGlobalVar:
        return global(static_cast<const GlobalVarNode&>(node).name());
      case ExprKind::kConstant:
        return tensor(static_cast<const ConstantNode&>(node).value());
      case ExprKind::kOp:
      case ExprKind::kConstructor:
      case ExprKind::kFunction: {
        Value value;
        value.callable = Expr(&node);
        value.frame = &frame;
        return value;
      }
      case ExprKind::kTuple:
        return tuple_of(all(static_cast<const TupleNode&>(node).fields(), frame));
      case ExprKind::kTupleGetItem: {
        const auto& item = static_cast<const TupleGetItemNode&>(node);
        return evaluate(item.tuple(), frame).fields.at(static_cast<size_t>(item.index()));
      }
      case ExprKind::kIf: {
        const auto& branch = static_cast<const IfNode&>(node);
        const bool taken = evaluate(branch.condition(), frame).array.as<uint8_t>()[0] != 0;
        return evaluate(taken ? branch.then() : branch.otherwise(), frame);
      }
      case ExprKind::kRefCreate: {
        Value value;
        value.cell =
            std::make_shared<Value>(evaluate(static_cast<const RefCreateNode&>(node).value(), frame));
        return value;
      }
      case ExprKind::kRefRead:
        return *evaluate(static_cast<const RefReadNode&>(node).ref(), frame).cell;
      case ExprKind::kRefWrite: {
        const auto& write = static_cast<const RefWriteNode&>(node);
        const Value cell = evaluate(write.ref(), frame);
        *cell.cell = evaluate(write.value(), frame);
        return {};
      }
      case ExprKind::kMatch:
        return match(static_cast<const MatchNode&>(node), frame);
      case ExprKind::kCall:
        return call(static_cast<const CallNode&>(node), frame);
      case ExprKind::kLet:
        break;
    }
    throw InternalError(__FILE__, __LINE__, "a let");
  }

  std::vector<Value> all(const std::vector<Expr>& exprs, Frame& frame) {
    std::vector<Value> values;
    for (const Expr& expr : exprs) values.push_back(evaluate(expr, frame));
    return values;
  }

  Value call(const CallNode& call, Frame& frame) {
    const Value callee = call.op() ? Value() : evaluate(call.callee(), frame);
    const std::vector<Value> args = all(call.args(), frame);
    if (call.op()) return operation(call, args);
    if (const auto* constructor = as<ConstructorNode>(callee.callable)) {
      Value value = tuple_of(args);
      value.constructor = constructor;
      return value;
    }
    return apply(callee, args);
  }

  Value operation(const CallNode& call, const std::vector<Value>& args) {
    const NodeInfo none(OriginSet::none());
    if (!call.op()->compute) {
      std::vector<NDArray> arrays;
      for (const Value& arg : args) arrays.push_back(arg.array);
      return tensor(plain_loops(call, arrays));
    }
    std::vector<Expr> constants;
    for (size_t i = 0; i < args.size(); ++i) constants.push_back(constant_of(args[i], none));
    const Call run = make_call(call.callee(), constants, call.attrs(),
                               NodeInfo(OriginSet::none(), {}, call.checked_type()));
    std::vector<NDArray> results = evaluator_->evaluate(*run);
    if (call.checked_type()->kind() != TypeKind::kTuple) return tensor(results.at(0));
    std::vector<Value> fields;
    for (NDArray& result : results) fields.push_back(tensor(std::move(result)));
    return tuple_of(std::move(fields));
  }

  static Expr constant_of(const Value& value, const NodeInfo& info) {
    if (value.array) return Expr(make_constant(value.array, info));
    std::vector<Expr> fields;
    std::vector<Type> types;
    for (const Value& field : value.fields) {
      fields.push_back(constant_of(field, info));
      types.push_back(fields.back()->checked_type());
    }
    return make_tuple(std::move(fields), NodeInfo(info.origins, {}, tuple_type(std::move(types))));
  }

  Value match(const MatchNode& match, Frame& frame) {
    const Value data = evaluate(match.data(), frame);
    for (const Clause& clause : match.clauses())
      if (bind(*clause.pattern, data, frame)) return evaluate(clause.body, frame);
    throw Error("no clause matches");
  }

  static bool bind(const PatternNode& pattern, const Value& value, Frame& frame) {
    if (pattern.kind() == PatternKind::kVar) frame.values[pattern.var().get()] = value;
    if (pattern.kind() == PatternKind::kConstructor && pattern.constructor().get() != value.constructor)
      return false;
    for (size_t i = 0; i < pattern.patterns().size(); ++i)
      if (!bind(*pattern.patterns()[i], value.fields.at(i), frame)) return false;
    return true;
  }

  const IRModuleNode& module_;
  const std::shared_ptr<Evaluator> evaluator_;
  std::vector<std::unique_ptr<Frame>> frames_;  // functions point to them, and they hold functions
};

}  // namespace

Value tensor(NDArray array) {
  Value value;
  value.array = std::move(array);
  return value;
}

Value tuple_of(std::vector<Value> fields) {
  Value value;
  value.fields = std::move(fields);
  return value;
}

Value interpret(const IRModule& module, const std::string& name, const std::vector<Value>& args) {
  Interpreter interpreter(*module);
  return interpreter.apply(interpreter.global(name), args);
}

}  // namespace baton::run
