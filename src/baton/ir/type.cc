#include "baton/ir/type.h"

#include <algorithm>

#include "baton/support/error.h"

namespace baton {

bool TensorTypeNode::is_static() const {
  return std::none_of(shape_.begin(), shape_.end(), [](const Dim& d) { return d.is_any(); });
}

bool TensorTypeNode::is_known() const { return std::ranges::find(shape_, Dim::any()) == shape_.end(); }

Type tensor_type(std::vector<Dim> shape, DType dtype) {
  return make_ref<const TensorTypeNode>(std::move(shape), dtype);
}
Type tensor_type(const std::vector<int64_t>& extents, DType dtype) {
  return tensor_type(std::vector<Dim>(extents.begin(), extents.end()), dtype);
}
Type scalar_type(DType dtype) { return tensor_type(std::vector<Dim>{}, dtype); }
Type tuple_type(std::vector<Type> fields) { return make_ref<const TupleTypeNode>(std::move(fields)); }
Type func_type(std::vector<Type> params, Type result, std::vector<TypeVar> type_params) {
  return make_ref<const FuncTypeNode>(std::move(params), std::move(result), std::move(type_params));
}
Type incomplete_type() { return make_ref<const IncompleteTypeNode>(); }
TypeVar type_var(std::string name, Kind kind) { return make_ref<const TypeVarNode>(std::move(name), kind); }
GlobalTypeVar global_type_var(std::string name, Kind kind) {
  return make_ref<const GlobalTypeVarNode>(std::move(name), kind);
}
Type type_call(Type callee, std::vector<Type> args) {
  return make_ref<const TypeCallNode>(std::move(callee), std::move(args));
}
Type ref_type(Type value) { return make_ref<const RefTypeNode>(std::move(value)); }

bool is_complete(const Type& type) {
  if (!type) return false;
  switch (type->kind()) {
    case TypeKind::kTensor:
    case TypeKind::kTypeVar:
    case TypeKind::kGlobalTypeVar:
      return true;
    case TypeKind::kTuple: {
      const auto& fields = as_type<TupleTypeNode>(type)->fields();
      return std::all_of(fields.begin(), fields.end(), is_complete);
    }
    case TypeKind::kFunc: {
      const auto* func = as_type<FuncTypeNode>(type);
      return std::all_of(func->params().begin(), func->params().end(), is_complete) &&
             is_complete(func->result());
    }
    case TypeKind::kTypeCall: {
      const auto* call = as_type<TypeCallNode>(type);
      return is_complete(call->callee()) &&
             std::all_of(call->args().begin(), call->args().end(), is_complete);
    }
    case TypeKind::kRef:
      return is_complete(as_type<RefTypeNode>(type)->value());
    case TypeKind::kIncomplete:
      return false;
  }
  return false;
}

namespace {

std::vector<Type> rewrite_all(const std::vector<Type>& types, FunctionRef<Type(const Type&)> change) {
  std::vector<Type> rewritten;
  rewritten.reserve(types.size());
  for (const Type& type : types) rewritten.push_back(rewrite_type(type, change));
  return rewritten;
}

}  // namespace

Type rewrite_type(const Type& type, FunctionRef<Type(const Type&)> change) {
  if (!type) return type;
  if (Type changed = change(type)) return changed;
  switch (type->kind()) {
    case TypeKind::kTensor:
    case TypeKind::kIncomplete:
    case TypeKind::kTypeVar:
    case TypeKind::kGlobalTypeVar:
      break;
    case TypeKind::kTuple: {
      const auto& fields = as_type<TupleTypeNode>(type)->fields();
      std::vector<Type> rewritten = rewrite_all(fields, change);
      return rewritten == fields ? type : tuple_type(std::move(rewritten));
    }
    case TypeKind::kFunc: {
      const auto* func = as_type<FuncTypeNode>(type);
      std::vector<Type> params = rewrite_all(func->params(), change);
      Type result = rewrite_type(func->result(), change);
      if (params == func->params() && result == func->result()) break;
      return func_type(std::move(params), std::move(result), func->type_params());
    }
    case TypeKind::kTypeCall: {
      const auto* call = as_type<TypeCallNode>(type);
      Type callee = rewrite_type(call->callee(), change);
      std::vector<Type> args = rewrite_all(call->args(), change);
      if (callee == call->callee() && args == call->args()) break;
      return type_call(std::move(callee), std::move(args));
    }
    case TypeKind::kRef: {
      Type value = rewrite_type(as_type<RefTypeNode>(type)->value(), change);
      return value == as_type<RefTypeNode>(type)->value() ? type : ref_type(std::move(value));
    }
  }
  return type;
}

Type substitute_types(const Type& type, const std::vector<TypeVar>& vars, const std::vector<Type>& values) {
  if (vars.empty()) return type;
  return rewrite_type(type, [&](const Type& part) -> Type {
    if (part->kind() != TypeKind::kTypeVar) return {};
    for (size_t i = 0; i < vars.size(); ++i)
      if (vars[i].get() == part.get()) return values[i];
    return {};
  });
}

void visit_types(const Type& type, FunctionRef<void(const Type&)> visit) {
  rewrite_type(type, [&](const Type& part) -> Type {
    visit(part);
    return {};
  });
}

bool is_static(const Type& type) {
  bool found = true;
  visit_types(type, [&](const Type& part) {
    if (const auto* tensor = as_type<TensorTypeNode>(part)) found &= tensor->is_static();
  });
  return found;
}

bool is_tensors(const Type& type) {
  if (as_type<TensorTypeNode>(type)) return true;
  const auto* tuple = as_type<TupleTypeNode>(type);
  return tuple && std::ranges::all_of(tuple->fields(), is_tensors);
}

}  // namespace baton
