#include "baton/ir/expr.h"

#include <algorithm>
#include <cstring>

#include "baton/ir/origin_fault.h"
#include "baton/ir/origin_scope.h"
#include "baton/support/base/float16.h"

namespace baton {

namespace {

Type type_of(const NDArray& value) {
  return tensor_type(std::vector<int64_t>(value.shape().begin(), value.shape().end()), value.dtype());
}

NodeInfo with_annotation(NodeInfo info, const Type& annotation) {
  if (!info.type && is_complete(annotation)) info.type = annotation;
  return info;
}

bool are_typed(const std::vector<Expr>& children) {
  return std::all_of(children.begin(), children.end(),
                     [](const Expr& child) { return is_typed(child.get()); });
}
}  // namespace

bool is_typed(const ExprNode* child) {
  return child->checked_type() || child->kind() == ExprKind::kOp || child->kind() == ExprKind::kGlobalVar ||
         child->kind() == ExprKind::kConstructor;
}

void keep_type_if(bool typed, NodeInfo& info) {
  if (!typed) info.type = {};
}

NodeInfo info_for_new_node(NodeInfo info) {
  if (const OriginFault* fault = OriginFault::current()) info.origins = fault->replace(info.origins);
  return info;
}

VarNode::VarNode(std::string name, Type annotation, NodeInfo info)
    : ExprNode(kKind, with_annotation(std::move(info), annotation)),
      name_(std::move(name)),
      annotation_(std::move(annotation)) {}

ConstantNode::ConstantNode(NDArray value, NodeInfo info)
    : ExprNode(kKind, NodeInfo(info.origins, info.span, type_of(value))), value_(std::move(value)) {}

const OpDef* CallNode::op() const {
  const auto* op = as<OpNode>(callee_);
  return op ? &op->def() : nullptr;
}

const AttrValue* FunctionNode::attr(std::string_view name) const {
  for (const auto& [key, value] : attrs_)
    if (key == name) return &value;
  return nullptr;
}

bool FunctionNode::is_primitive() const {
  const AttrValue* value = attr("Primitive");
  const int64_t* number = value ? value->as<int64_t>() : nullptr;
  return number && *number != 0;
}

Var make_var(std::string name, Type annotation, NodeInfo info) {
  return make_ref<const VarNode>(std::move(name), std::move(annotation), info_for_new_node(std::move(info)));
}
GlobalVar make_global_var(std::string name) {
  return make_ref<const GlobalVarNode>(std::move(name), NodeInfo(OriginSet::none()));
}
Constant make_constant(NDArray value, NodeInfo info) {
  BATON_CHECK(value.defined(), "a constant without a value");
  return make_ref<const ConstantNode>(std::move(value), info_for_new_node(std::move(info)));
}
Expr make_tuple(std::vector<Expr> fields, NodeInfo info) {
  keep_type_if(!info.type || are_typed(fields), info);
  return make_ref<const TupleNode>(std::move(fields), info_for_new_node(std::move(info)));
}
Expr make_tuple_get_item(Expr tuple, int index, NodeInfo info) {
  keep_type_if(is_typed(tuple.get()), info);
  return make_ref<const TupleGetItemNode>(std::move(tuple), index, info_for_new_node(std::move(info)));
}
Call make_call(Expr callee, ExprList args, Attrs attrs, NodeInfo info) {
  keep_type_if(!info.type || (is_typed(callee.get()) && are_typed(args)), info);
  return make_ref<const CallNode>(std::move(callee), std::move(args), std::move(attrs),
                                  info_for_new_node(std::move(info)));
}
Function make_function(std::vector<Var> params, Expr body, Type ret_type, FunctionAttrs attrs, NodeInfo info,
                       std::vector<TypeVar> type_params) {
  const bool params_typed =
      std::all_of(params.begin(), params.end(), [](const Var& param) { return is_typed(param.get()); });
  keep_type_if(params_typed && is_typed(body.get()), info);
  return make_ref<const FunctionNode>(std::move(params), std::move(body), std::move(ret_type),
                                      std::move(type_params), std::move(attrs),
                                      info_for_new_node(std::move(info)));
}
Function remake_function(const FunctionNode& old, std::vector<Var> params, Expr body) {
  return make_function(std::move(params), std::move(body), old.ret_type(), old.attrs(), old.with_type({}),
                       old.type_params());
}
Expr make_let(Var var, Expr value, Expr body, NodeInfo info) {
  keep_type_if(is_typed(var.get()) && is_typed(value.get()) && is_typed(body.get()), info);
  return make_ref<const LetNode>(std::move(var), std::move(value), std::move(body),
                                 info_for_new_node(std::move(info)));
}
Expr make_if(Expr condition, Expr then, Expr otherwise, NodeInfo info) {
  keep_type_if(is_typed(condition.get()) && is_typed(then.get()) && is_typed(otherwise.get()), info);
  return make_ref<const IfNode>(std::move(condition), std::move(then), std::move(otherwise),
                                info_for_new_node(std::move(info)));
}

Expr make_ref_create(Expr value, NodeInfo info) {
  keep_type_if(is_typed(value.get()), info);
  return make_ref<const RefCreateNode>(std::move(value), info_for_new_node(std::move(info)));
}
Expr make_ref_read(Expr ref, NodeInfo info) {
  keep_type_if(is_typed(ref.get()), info);
  return make_ref<const RefReadNode>(std::move(ref), info_for_new_node(std::move(info)));
}
Expr make_ref_write(Expr ref, Expr value, NodeInfo info) {
  keep_type_if(is_typed(ref.get()) && is_typed(value.get()), info);
  return make_ref<const RefWriteNode>(std::move(ref), std::move(value), info_for_new_node(std::move(info)));
}

Var var(std::string name, Type annotation, Span span) {
  return make_var(std::move(name), std::move(annotation),
                  NodeInfo(OriginScope::current_or_none(), std::move(span)));
}
Constant constant(NDArray value, Span span) {
  return make_constant(std::move(value), NodeInfo(OriginScope::current_or_none(), std::move(span)));
}

Constant scalar(double value, DType dtype) {
  NDArray array = NDArray::empty({}, dtype);
  void* to = array.data();
  auto store = [&](auto typed) { std::memcpy(to, &typed, sizeof typed); };
  const int bits = dtype.bits;
  if (dtype.is_float() && bits == 64)
    store(value);
  else if (dtype.is_float() && bits == 32)
    store(static_cast<float>(value));
  else if (dtype.is_float() && bits == 16)
    store(half_from_double(value));
  else if (dtype.is_bfloat())
    store(bfloat_from_double(value));
  else if (bits == 64)
    store(static_cast<int64_t>(value));
  else if (bits == 32)
    store(static_cast<int32_t>(static_cast<int64_t>(value)));
  else if (bits == 16)
    store(static_cast<int16_t>(static_cast<int64_t>(value)));
  else if (bits == 8 || bits == 1)
    store(static_cast<int8_t>(static_cast<int64_t>(value)));
  else
    throw InternalError(__FILE__, __LINE__, "a scalar of type " + dtype.str());
  return constant(std::move(array));
}

Expr tuple(std::vector<Expr> fields, Span span) {
  return make_tuple(std::move(fields), NodeInfo(OriginScope::current_or_none(), std::move(span)));
}
Expr get_item(Expr tuple, int index, Span span) {
  return make_tuple_get_item(std::move(tuple), index,
                             NodeInfo(OriginScope::current_or_none(), std::move(span)));
}

Function function(std::vector<Var> params, Expr body, Type ret_type, FunctionAttrs attrs, Span span,
                  std::vector<TypeVar> type_params) {
  return make_function(std::move(params), std::move(body), std::move(ret_type), std::move(attrs),
                       NodeInfo(OriginScope::current_or_none(), std::move(span)), std::move(type_params));
}
Expr let(Var var, Expr value, Expr body, Span span) {
  return make_let(std::move(var), std::move(value), std::move(body),
                  NodeInfo(OriginScope::current_or_none(), std::move(span)));
}
Expr if_else(Expr condition, Expr then, Expr otherwise, Span span) {
  return make_if(std::move(condition), std::move(then), std::move(otherwise),
                 NodeInfo(OriginScope::current_or_none(), std::move(span)));
}

Expr ref_create(Expr value, Span span) {
  return make_ref_create(std::move(value), NodeInfo(OriginScope::current_or_none(), std::move(span)));
}
Expr ref_read(Expr ref, Span span) {
  return make_ref_read(std::move(ref), NodeInfo(OriginScope::current_or_none(), std::move(span)));
}
Expr ref_write(Expr ref, Expr value, Span span) {
  return make_ref_write(std::move(ref), std::move(value),
                        NodeInfo(OriginScope::current_or_none(), std::move(span)));
}

std::optional<double> scalar_value(const Expr& expr) {
  const auto* constant = as<ConstantNode>(expr);
  if (!constant || !constant->is_scalar()) return std::nullopt;
  const DType dtype = constant->value().dtype();
  const void* data = constant->value().data();
  auto load = [&](auto typed) {
    std::memcpy(&typed, data, sizeof typed);
    return static_cast<double>(typed);
  };
  if (dtype.is_float() && dtype.bits == 64) return load(double());
  if (dtype.is_float() && dtype.bits == 32) return load(float());
  if (dtype.is_float() && dtype.bits == 16) {
    uint16_t half;
    std::memcpy(&half, data, 2);
    return half_to_float(half);
  }
  if (dtype.is_int() && dtype.bits == 64) return load(int64_t());
  if (dtype.is_int() && dtype.bits == 32) return load(int32_t());
  if (dtype.is_int() && dtype.bits == 16) return load(int16_t());
  if (dtype.is_int() && dtype.bits == 8) return load(int8_t());
  if (dtype.is_uint() && dtype.bits <= 8) return load(uint8_t());
  if (dtype.is_uint() && dtype.bits == 16) return load(uint16_t());
  if (dtype.is_uint() && dtype.bits == 32) return load(uint32_t());
  return std::nullopt;
}

Function with_attr(const Function& function, std::string name, AttrValue value) {
  FunctionAttrs attrs = function->attrs();
  auto at = std::find_if(attrs.begin(), attrs.end(), [&](const auto& attr) { return attr.first == name; });
  if (at == attrs.end())
    attrs.emplace_back(std::move(name), std::move(value));
  else
    at->second = std::move(value);
  return make_function(function->params(), function->body(), function->ret_type(), std::move(attrs),
                       function->info(), function->type_params());
}

}  // namespace baton
