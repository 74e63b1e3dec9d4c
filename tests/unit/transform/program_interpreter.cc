#include "transform/program_interpreter.h"

#include <unordered_map>

#include "baton/codegen/backend.h"
#include "baton/codegen/evaluate/evaluator.h"
#include "baton/ir/op.h"
#include "baton/support/base/float16.h"
#include "baton/support/error.h"
#include "baton/support/hash.h"

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

void flatten(const Value& value, std::vector<NDArray>& arrays) {
  if (value.array) arrays.push_back(value.array);
  for (const Value& field : value.fields) flatten(field, arrays);
}

uint64_t key_of(const CallNode& call, const std::vector<Value>& args) {
  Hasher hash;
  hash.add_text(call.op()->name);
  hash.add(attrs_hash(call.attrs()));
  hash.add_text(type_text(call.checked_type()));
  for (const Value& arg : args) {
    std::vector<NDArray> arrays;
    flatten(arg, arrays);
    hash.add(arrays.size());
    for (const NDArray& array : arrays) {
      for (const int64_t extent : array.shape()) hash.add(static_cast<uint64_t>(extent));
      hash.add(std::hash<DType>()(array.dtype()));
      hash.add_bytes(array.data(), array.bytes());
    }
  }
  return hash.value();
}

Expr constant_of(const Value& value) {
  const NodeInfo info(OriginSet::none());
  if (value.array) return Expr(make_constant(value.array, info));
  std::vector<Expr> fields;
  std::vector<Type> types;
  for (const Value& field : value.fields) {
    fields.push_back(constant_of(field));
    types.push_back(fields.back()->checked_type());
  }
  return make_tuple(std::move(fields), NodeInfo(info.origins, {}, tuple_type(std::move(types))));
}

// What only says something about its argument.
bool is_marker(const OpDef& op) {
  return op.non_computational || op.name.starts_with("annotation.") || op.name == "on_device" ||
         op.name == "device_copy";
}

}  // namespace

/// One run of a program.
class Interpreter::Run {
 public:
  Run(const IRModuleNode& module, Interpreter& all) : module_(module), all_(all) {}

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
    if (call.op()) return all_.operation(call, args);
    if (const auto* constructor = as<ConstructorNode>(callee.callable)) {
      Value value = tuple_of(args);
      value.constructor = constructor;
      return value;
    }
    return apply(callee, args);
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
  Interpreter& all_;
  std::vector<std::unique_ptr<Frame>> frames_;  // functions point to them, and they hold functions
};

Interpreter::Interpreter() : evaluator_(make_evaluator(EvaluateBy::kChoose)) {}

Value Interpreter::run(const IRModule& module, const std::string& name, const std::vector<Value>& args) {
  Run run(*module, *this);
  return run.apply(run.global(name), args);
}

Value Interpreter::operation(const CallNode& call, const std::vector<Value>& args) {
  const OpDef& op = *call.op();
  const bool quantized = op.name.starts_with("qnn.");
  if (!quantized && is_marker(op)) return args.at(0);
  if (op.name == "nn.dropout") return tuple_of({args.at(0), args.at(0)});  // the mask is nobody's
  if (quantized) {
    std::vector<NDArray> arrays;
    for (const Value& arg : args) arrays.push_back(arg.array);
    return tensor(plain_quantized(call, arrays));
  }
  const auto [known, fresh] = known_.emplace(key_of(call, args), Value());
  if (!fresh) return known->second;
  std::vector<Expr> constants;
  for (const Value& arg : args) constants.push_back(constant_of(arg));
  const Call run =
      make_call(call.callee(), constants, call.attrs(), NodeInfo(OriginSet::none(), {}, call.checked_type()));
  try {
    std::vector<NDArray> results = evaluator_->evaluate(*run, host_context());
    if (call.checked_type()->kind() != TypeKind::kTuple) return known->second = tensor(results.at(0));
    std::vector<Value> fields;
    for (NDArray& result : results) fields.push_back(tensor(std::move(result)));
    return known->second = tuple_of(std::move(fields));
  } catch (...) {
    known_.erase(known);
    throw;
  }
}

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
  return Interpreter().run(module, name, args);
}

double element(const NDArray& array, int64_t at) {
  const auto load = [&](auto type) {
    return static_cast<double>(static_cast<const decltype(type)*>(array.data())[at]);
  };
  const DType type = array.dtype();
  if (type == DType::float_(64)) return load(double());
  if (type == DType::float_(32)) return load(float());
  if (type == DType::float_(16)) return half_to_float(static_cast<const uint16_t*>(array.data())[at]);
  if (type.bits == 64) return type.is_int() ? load(int64_t()) : load(uint64_t());
  if (type.bits == 32) return type.is_int() ? load(int32_t()) : load(uint32_t());
  if (type.bits == 16) return type.is_int() ? load(int16_t()) : load(uint16_t());
  return type.is_int() ? load(int8_t()) : load(uint8_t());
}

}  // namespace baton::run
