#include "baton/ir/type.h"

#include <algorithm>

#include "baton/support/error.h"
#include "baton/support/hash.h"

namespace baton {

bool TensorTypeNode::is_static() const {
  return std::none_of(shape_.begin(), shape_.end(), [](const Dim& d) { return d.is_any(); });
}

std::vector<int64_t> TensorTypeNode::extents() const {
  std::vector<int64_t> extents;
  extents.reserve(shape_.size());
  for (const Dim& dim : shape_) {
    BATON_CHECK(!dim.is_any(), "extents of a dynamic shape");
    extents.push_back(dim.value());
  }
  return extents;
}

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

namespace {

bool same_types(const std::vector<Type>& a, const std::vector<Type>& b, TypeVarPairs& pairs) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!same_type(a[i], b[i], pairs)) return false;
  return true;
}

// Paired in `pairs`, or both unpaired and the same object.
bool same_type_vars(const TypeVarNode* a, const TypeVarNode* b, const TypeVarPairs& pairs) {
  for (auto pair = pairs.rbegin(); pair != pairs.rend(); ++pair)
    if (pair->first == a || pair->second == b) return pair->first == a && pair->second == b;
  return a == b;
}

bool same_functions(const FuncTypeNode& a, const FuncTypeNode& b, TypeVarPairs& pairs) {
  if (a.type_params().size() != b.type_params().size()) return false;
  const size_t outer = pairs.size();
  for (size_t i = 0; i < a.type_params().size(); ++i) {
    if (a.type_params()[i]->var_kind() != b.type_params()[i]->var_kind()) return false;
    pairs.emplace_back(a.type_params()[i].get(), b.type_params()[i].get());
  }
  const bool same = same_types(a.params(), b.params(), pairs) && same_type(a.result(), b.result(), pairs);
  pairs.resize(outer);
  return same;
}

std::string list_text(const std::vector<Type>& types) {
  std::string text;
  for (size_t i = 0; i < types.size(); ++i) text += (i ? ", " : "") + type_text(types[i]);
  return text;
}

std::string tensor_text(const TensorTypeNode& type) {
  if (type.shape().empty()) return type.dtype().str();
  std::string text = "Tensor[(";
  for (size_t i = 0; i < type.shape().size(); ++i) {
    const Dim dim = type.shape()[i];
    text += (i ? ", " : "") + (dim.is_any() ? std::string("?") : std::to_string(dim.value()));
  }
  return text + "), " + type.dtype().str() + "]";
}

}  // namespace

bool same_type(const Type& a, const Type& b) {
  TypeVarPairs pairs;
  return same_type(a, b, pairs);
}

bool same_type(const Type& a, const Type& b, TypeVarPairs& pairs) {
  if (a == b && pairs.empty()) return true;
  if (!a || !b || a->kind() != b->kind()) return a == b;
  switch (a->kind()) {
    case TypeKind::kTensor: {
      const auto *x = as_type<TensorTypeNode>(a), *y = as_type<TensorTypeNode>(b);
      return x->dtype() == y->dtype() && x->shape() == y->shape();
    }
    case TypeKind::kTuple:
      return same_types(as_type<TupleTypeNode>(a)->fields(), as_type<TupleTypeNode>(b)->fields(), pairs);
    case TypeKind::kFunc:
      return same_functions(*as_type<FuncTypeNode>(a), *as_type<FuncTypeNode>(b), pairs);
    case TypeKind::kIncomplete:
      return true;  // it says nothing; inference tells its holes apart by identity
    case TypeKind::kTypeVar:
      return same_type_vars(as_type<TypeVarNode>(a), as_type<TypeVarNode>(b), pairs);
    case TypeKind::kGlobalTypeVar:
      return as_type<GlobalTypeVarNode>(a)->name() == as_type<GlobalTypeVarNode>(b)->name();
    case TypeKind::kTypeCall: {
      const auto *x = as_type<TypeCallNode>(a), *y = as_type<TypeCallNode>(b);
      return same_type(x->callee(), y->callee(), pairs) && same_types(x->args(), y->args(), pairs);
    }
    case TypeKind::kRef:
      return same_type(as_type<RefTypeNode>(a)->value(), as_type<RefTypeNode>(b)->value(), pairs);
  }
  return false;
}

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

std::string type_text(const Type& type) {
  if (!type) return "_";
  switch (type->kind()) {
    case TypeKind::kTensor:
      return tensor_text(*as_type<TensorTypeNode>(type));
    case TypeKind::kTuple: {
      const auto& fields = as_type<TupleTypeNode>(type)->fields();
      return "(" + list_text(fields) + (fields.size() == 1 ? ",)" : ")");
    }
    case TypeKind::kFunc: {
      const auto* func = as_type<FuncTypeNode>(type);
      std::string generics;
      for (const TypeVar& var : func->type_params())
        generics += (generics.empty() ? "[" : ", ") + var->name();
      if (!generics.empty()) generics += "]";
      return "fn " + generics + "(" + list_text(func->params()) + ") -> " + type_text(func->result());
    }
    case TypeKind::kTypeVar:
      return as_type<TypeVarNode>(type)->name();
    case TypeKind::kGlobalTypeVar:
      return as_type<GlobalTypeVarNode>(type)->name();
    case TypeKind::kTypeCall: {
      const auto* call = as_type<TypeCallNode>(type);
      return type_text(call->callee()) + "[" + list_text(call->args()) + "]";
    }
    case TypeKind::kRef:
      return "ref(" + type_text(as_type<RefTypeNode>(type)->value()) + ")";
    case TypeKind::kIncomplete:
      return "_";
  }
  return "_";
}

uint64_t type_hash(const Type& type) {
  if (!type) return 0;
  Hasher hash(static_cast<uint64_t>(type->kind()) + 1);
  switch (type->kind()) {
    case TypeKind::kTensor: {
      const auto* tensor = as_type<TensorTypeNode>(type);
      hash.add(std::hash<DType>()(tensor->dtype()));
      hash.add(tensor->shape().size());
      for (const Dim& dim : tensor->shape())
        hash.add(dim.is_any() ? ~0ull : static_cast<uint64_t>(dim.value()));
      break;
    }
    case TypeKind::kTuple:
      for (const Type& field : as_type<TupleTypeNode>(type)->fields()) hash.add(type_hash(field));
      break;
    case TypeKind::kFunc:
      for (const Type& param : as_type<FuncTypeNode>(type)->params()) hash.add(type_hash(param));
      hash.add(type_hash(as_type<FuncTypeNode>(type)->result()));
      hash.add(as_type<FuncTypeNode>(type)->type_params().size());
      break;
    case TypeKind::kGlobalTypeVar:
      hash.add_text(as_type<GlobalTypeVarNode>(type)->name());
      break;
    case TypeKind::kTypeCall:
      hash.add(type_hash(as_type<TypeCallNode>(type)->callee()));
      for (const Type& arg : as_type<TypeCallNode>(type)->args()) hash.add(type_hash(arg));
      break;
    case TypeKind::kRef:
      hash.add(type_hash(as_type<RefTypeNode>(type)->value()));
      break;
    case TypeKind::kTypeVar:  // names are not part of the hash
    case TypeKind::kIncomplete:
      break;
  }
  return hash.value();
}

}  // namespace baton
