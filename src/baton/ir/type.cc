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

Type tensor_type(std::vector<Dim> shape, DType dtype) { return make_ref<const TensorTypeNode>(std::move(shape), dtype); }
Type tensor_type(const std::vector<int64_t>& extents, DType dtype) {
  return tensor_type(std::vector<Dim>(extents.begin(), extents.end()), dtype);
}
Type scalar_type(DType dtype) { return tensor_type(std::vector<Dim>{}, dtype); }
Type tuple_type(std::vector<Type> fields) { return make_ref<const TupleTypeNode>(std::move(fields)); }
Type func_type(std::vector<Type> params, Type result) {
  return make_ref<const FuncTypeNode>(std::move(params), std::move(result));
}
Type incomplete_type() { return make_ref<const IncompleteTypeNode>(); }

namespace {

bool same_types(const std::vector<Type>& a, const std::vector<Type>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same_type);
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
  if (a == b) return true;
  if (!a || !b || a->kind() != b->kind()) return false;
  switch (a->kind()) {
    case TypeKind::kTensor: {
      const auto *x = as_type<TensorTypeNode>(a), *y = as_type<TensorTypeNode>(b);
      return x->dtype() == y->dtype() && x->shape() == y->shape();
    }
    case TypeKind::kTuple:
      return same_types(as_type<TupleTypeNode>(a)->fields(), as_type<TupleTypeNode>(b)->fields());
    case TypeKind::kFunc: {
      const auto *x = as_type<FuncTypeNode>(a), *y = as_type<FuncTypeNode>(b);
      return same_types(x->params(), y->params()) && same_type(x->result(), y->result());
    }
    case TypeKind::kIncomplete: return false;
  }
  return false;
}

bool is_complete(const Type& type) {
  if (!type) return false;
  switch (type->kind()) {
    case TypeKind::kTensor: return true;
    case TypeKind::kTuple: {
      const auto& fields = as_type<TupleTypeNode>(type)->fields();
      return std::all_of(fields.begin(), fields.end(), is_complete);
    }
    case TypeKind::kFunc: {
      const auto* func = as_type<FuncTypeNode>(type);
      return std::all_of(func->params().begin(), func->params().end(), is_complete) && is_complete(func->result());
    }
    case TypeKind::kIncomplete: return false;
  }
  return false;
}

std::string type_text(const Type& type) {
  if (!type) return "_";
  switch (type->kind()) {
    case TypeKind::kTensor: return tensor_text(*as_type<TensorTypeNode>(type));
    case TypeKind::kTuple: {
      const auto& fields = as_type<TupleTypeNode>(type)->fields();
      return "(" + list_text(fields) + (fields.size() == 1 ? ",)" : ")");
    }
    case TypeKind::kFunc: {
      const auto* func = as_type<FuncTypeNode>(type);
      return "fn (" + list_text(func->params()) + ") -> " + type_text(func->result());
    }
    case TypeKind::kIncomplete: return "_";
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
      for (const Dim& dim : tensor->shape()) hash.add(dim.is_any() ? ~0ull : static_cast<uint64_t>(dim.value()));
      break;
    }
    case TypeKind::kTuple:
      for (const Type& field : as_type<TupleTypeNode>(type)->fields()) hash.add(type_hash(field));
      break;
    case TypeKind::kFunc:
      for (const Type& param : as_type<FuncTypeNode>(type)->params()) hash.add(type_hash(param));
      hash.add(type_hash(as_type<FuncTypeNode>(type)->result()));
      break;
    case TypeKind::kIncomplete: break;
  }
  return hash.value();
}

}  // namespace baton
