#include "properties/module_value.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "baton/codegen/evaluator.h"
#include "baton/ir/op.h"
#include "baton/support/base/float16.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/error.h"
#include "baton/support/hash.h"

namespace baton::properties {

namespace {

NodeInfo typed(const Type& type) { return NodeInfo(OriginSet::none(), {}, type); }

Expr array_value(NDArray value) { return make_constant(std::move(value), NodeInfo(OriginSet::none())); }

void flatten(const Expr& value, std::vector<NDArray>& arrays) {
  if (const auto* tuple = as<TupleNode>(value)) {
    for (const Expr& field : tuple->fields()) flatten(field, arrays);
    return;
  }
  arrays.push_back(as<ConstantNode>(value)->value());
}

// `arrays` in the form of `type`, from `at` on.
Expr shaped(const Type& type, const std::vector<NDArray>& arrays, size_t& at) {
  const auto* tuple = as_type<TupleTypeNode>(type);
  if (!tuple) return array_value(arrays[at++]);
  std::vector<Expr> fields;
  for (const Type& field : tuple->fields()) fields.push_back(shaped(field, arrays, at));
  return make_tuple(std::move(fields), typed(type));
}

Type type_of_value(const Expr& value) {
  const auto* tuple = as<TupleNode>(value);
  if (!tuple) return value->checked_type();
  std::vector<Type> types;
  for (const Expr& field : tuple->fields()) types.push_back(type_of_value(field));
  return tuple_type(std::move(types));
}

void hash_value(const Expr& value, Hasher& hash) {
  std::vector<NDArray> arrays;
  flatten(value, arrays);
  hash.add(arrays.size());
  for (const NDArray& array : arrays) {
    for (const int64_t extent : array.shape()) hash.add(static_cast<uint64_t>(extent));
    hash.add(std::hash<DType>()(array.dtype()));
    hash.add_bytes(array.data(), array.bytes());
  }
}

double element(const NDArray& array, int64_t at) {
  const auto load = [&](auto type) { return static_cast<double>(static_cast<const decltype(type)*>(array.data())[at]); };
  const DType type = array.dtype();
  if (type == DType::float_(64)) return load(double());
  if (type == DType::float_(32)) return load(float());
  if (type == DType::float_(16)) return half_to_float(static_cast<const uint16_t*>(array.data())[at]);
  if (type.bits == 64) return type.is_int() ? load(int64_t()) : load(uint64_t());
  if (type.bits == 32) return type.is_int() ? load(int32_t()) : load(uint32_t());
  if (type.bits == 16) return type.is_int() ? load(int16_t()) : load(uint16_t());
  return type.is_int() ? load(int8_t()) : load(uint8_t());
}

}  // namespace

ModuleEvaluator::ModuleEvaluator() : evaluator_(make_evaluator(EvaluateBy::kChoose)) {}

std::vector<NDArray> ModuleEvaluator::run(const IRModule& module) {
  module_ = module;
  const Function main = module->find("main");
  Frame frame;
  for (const Var& param : main->params()) {
    const auto* type = as_type<TensorTypeNode>(param->checked_type() ? param->checked_type() : param->annotation());
    if (!type || !type->is_static()) throw NotSupported("parameter %" + param->name() + " is no tensor of known shape");
    frame.values[param.get()] = array_value(parameter_value(param->name(), type->extents(), type->dtype()));
  }
  std::vector<NDArray> arrays;
  flatten(value(main->body(), frame), arrays);
  return arrays;
}

Expr ModuleEvaluator::value(const Expr& expr, Frame& frame) {
  if (const auto at = frame.values.find(expr.get()); at != frame.values.end()) return at->second;
  Expr result = compute(expr, frame);
  frame.values[expr.get()] = result;
  return result;
}

Expr ModuleEvaluator::compute(const Expr& expr, Frame& frame) {
  switch (expr->kind()) {
    case ExprKind::kConstant: return expr;
    case ExprKind::kTuple: {
      std::vector<Expr> fields;
      std::vector<Type> types;
      for (const Expr& field : as<TupleNode>(expr)->fields()) {
        fields.push_back(value(field, frame));
        types.push_back(type_of_value(fields.back()));
      }
      return make_tuple(std::move(fields), typed(tuple_type(std::move(types))));
    }
    case ExprKind::kTupleGetItem: {
      const auto* item = as<TupleGetItemNode>(expr);
      const Expr tuple = value(item->tuple(), frame);
      return as<TupleNode>(tuple)->fields()[static_cast<size_t>(item->index())];
    }
    case ExprKind::kLet: {
      Expr at = expr;  // long chains without recursion
      while (const auto* let = as<LetNode>(at)) {
        frame.values[let->var().get()] = value(let->value(), frame);
        at = let->body();
      }
      return value(at, frame);
    }
    case ExprKind::kIf: {
      const auto* branch = as<IfNode>(expr);
      const Expr condition = value(branch->condition(), frame);
      return value(element(as<ConstantNode>(condition)->value(), 0) != 0 ? branch->then() : branch->otherwise(), frame);
    }
    case ExprKind::kCall: return call(*as<CallNode>(expr), frame);
    default: throw NotSupported("the plain evaluator meets an expression that it does not follow");
  }
}

Expr ModuleEvaluator::call(const CallNode& call, Frame& frame) {
  std::vector<Expr> args;
  for (const Expr& arg : call.args()) args.push_back(value(arg, frame));
  if (call.op()) return operator_call(call, std::move(args));
  const auto* global = as<GlobalVarNode>(call.callee());
  const Function found = global ? module_->find(global->name()) : Function();
  const auto* function = global ? found.get() : as<FunctionNode>(call.callee());
  if (!function) throw NotSupported("the plain evaluator meets a call of a closure");
  Frame inner;
  if (!global) inner.values = frame.values;  // what a literal captures
  for (size_t i = 0; i < args.size(); ++i) inner.values[function->params()[i].get()] = args[i];
  return value(function->body(), inner);
}

Expr ModuleEvaluator::operator_call(const CallNode& call, std::vector<Expr> args) {
  const OpDef& op = *call.op();
  if (op.non_computational || op.name.starts_with("annotation.") || op.name == "on_device" || op.name == "device_copy") return args[0];
  if (op.name == "nn.dropout") return make_tuple({args[0], args[0]}, typed(call.checked_type()));  // the mask is nobody's
  Hasher hash;
  hash.add_text(op.name);
  hash.add(attrs_hash(call.attrs()));
  hash.add_text(type_text(call.checked_type()));
  for (const Expr& arg : args) hash_value(arg, hash);
  const auto [known, fresh] = known_.emplace(hash.value(), Expr());
  if (!fresh && known->second) return known->second;
  const Expr constant_call = make_call(call.callee(), std::move(args), call.attrs(), typed(call.checked_type()));
  const std::vector<NDArray> arrays = evaluator_->evaluate(*as<CallNode>(constant_call));
  size_t at = 0;
  return known->second = shaped(call.checked_type(), arrays, at);
}

double difference(const std::vector<NDArray>& a, const std::vector<NDArray>& b) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  if (a.size() != b.size()) return kNever;
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].dtype() != b[i].dtype() || a[i].shape() != b[i].shape()) return kNever;
    for (int64_t at = 0; at < a[i].size(); ++at) {
      const double x = element(a[i], at), y = element(b[i], at);
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      const double apart = std::abs(x - y) / (1 + std::max(std::abs(x), std::abs(y)));
      most = std::max(most, std::isnan(apart) ? kNever : apart);
    }
  }
  return most;
}

}  // namespace baton::properties
