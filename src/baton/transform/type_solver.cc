#include "baton/transform/type_solver.h"

#include <algorithm>

namespace baton {

namespace {

bool is_hole(const Type& type) { return type->kind() == TypeKind::kIncomplete; }

std::string kind_text(const Type& type) {
  switch (type->kind()) {
    case TypeKind::kTensor: return "a tensor";
    case TypeKind::kTuple: return "a tuple";
    case TypeKind::kFunc: return "a function";
    case TypeKind::kIncomplete: break;
  }
  return "unknown";
}

}  // namespace

TypeSolver::Hole& TypeSolver::hole(const Type& type) {
  const auto [id, fresh] = ids_.insert(type.get(), static_cast<uint32_t>(holes_.size()));
  if (fresh) {
    holes_.emplace_back();
    kept_.push_back(type);
  }
  return holes_[*id];
}

Type TypeSolver::representative(const Type& type) {
  Type at = type;
  for (;;) {
    const uint32_t* id = ids_.find(at.get());
    if (!id || !holes_[*id].bound || !is_hole(holes_[*id].bound)) break;
    at = holes_[*id].bound;
  }
  // Chains are shortened, so that a long row of holes made equal one after another stays linear.
  for (Type from = type; from != at;) {
    Hole& link = hole(from);
    from = link.bound;
    link.bound = at;
  }
  return at;
}

Type TypeSolver::resolve(const Type& type) {
  if (!is_hole(type)) return type;
  Type hole_type = representative(type);
  const uint32_t* id = ids_.find(hole_type.get());
  return id && holes_[*id].bound ? holes_[*id].bound : hole_type;
}

Type TypeSolver::settle(const Type& type) {
  const Type known = resolve(type);
  if (known->kind() == TypeKind::kTensor || is_complete(known)) return known;
  if (const auto* tuple = as_type<TupleTypeNode>(known)) {
    std::vector<Type> fields;
    for (const Type& field : tuple->fields()) fields.push_back(settle(field));
    return fields == tuple->fields() ? known : tuple_type(std::move(fields));
  }
  if (const auto* func = as_type<FuncTypeNode>(known)) {
    std::vector<Type> params;
    for (const Type& param : func->params()) params.push_back(settle(param));
    Type result = settle(func->result());
    if (params == func->params() && result == func->result()) return known;
    return func_type(std::move(params), std::move(result));
  }
  return known;
}

bool TypeSolver::occurs(const Type& hole, const Type& type) {
  std::vector<Type> inside;
  holes(type, inside);
  return std::find(inside.begin(), inside.end(), hole) != inside.end();
}

void TypeSolver::bind(const Type& type, const Type& to) {
  Hole& at = hole(type);
  if (at.bound) kept_.push_back(at.bound);
  std::vector<Waiter> waiters = std::move(at.waiters);
  at.waiters.clear();
  at.bound = to;
  if (is_hole(to) && !is_error(to)) {
    // Nothing became known: whoever waited for this hole waits for the other one now.
    Hole& other = hole(to);
    other.waiters.insert(other.waiters.end(), waiters.begin(), waiters.end());
  } else {
    woken_.insert(woken_.end(), waiters.begin(), waiters.end());
  }
}

void TypeSolver::wait(const Type& type, Waiter waiter) { hole(type).waiters.push_back(waiter); }

void TypeSolver::holes(const Type& type, std::vector<Type>& into) {
  const Type known = resolve(type);
  if (is_hole(known)) {
    if (!is_error(known) && std::find(into.begin(), into.end(), known) == into.end()) into.push_back(known);
  } else if (const auto* tuple = as_type<TupleTypeNode>(known)) {
    for (const Type& field : tuple->fields()) holes(field, into);
  } else if (const auto* func = as_type<FuncTypeNode>(known)) {
    for (const Type& param : func->params()) holes(param, into);
    holes(func->result(), into);
  }
}

std::optional<Type> TypeSolver::unify(const Type& left, const Type& right, Mismatch* mismatch) {
  if (left == right) return left;
  const Type a = is_hole(left) ? representative(left) : left, b = is_hole(right) ? representative(right) : right;
  if (a == b) return a;
  const Type known_a = resolve(a), known_b = resolve(b);
  if (is_error(known_a) || is_error(known_b)) {
    if (is_hole(known_a) && !is_error(known_a)) bind(known_a, error_);
    if (is_hole(known_b) && !is_error(known_b)) bind(known_b, error_);
    return error_;
  }
  if (is_hole(known_a) || is_hole(known_b)) {
    const Type& hole = is_hole(known_a) ? known_a : known_b;
    const Type& other = is_hole(known_a) ? b : a;  // a hole that is bound stays the link, so that it may be refined
    if (!is_hole(resolve(other)) && occurs(hole, other)) {
      if (mismatch) mismatch->why = "one would have to contain itself";
      return std::nullopt;
    }
    bind(hole, resolve(other));
    return resolve(other);
  }
  std::optional<Type> both;
  if (known_a->kind() != known_b->kind()) {
    if (mismatch) mismatch->why = "one is " + kind_text(known_a) + ", the other " + kind_text(known_b);
  } else if (const auto* tensor = as_type<TensorTypeNode>(known_a)) {
    both = unify_tensors(*tensor, *as_type<TensorTypeNode>(known_b), known_a, mismatch);
  } else if (const auto* tuple = as_type<TupleTypeNode>(known_a)) {
    const auto fields = unify_lists(tuple->fields(), as_type<TupleTypeNode>(known_b)->fields(), "fields", mismatch);
    if (fields) both = *fields == tuple->fields() ? known_a : tuple_type(*fields);
  } else if (const auto* func = as_type<FuncTypeNode>(known_a)) {
    const auto* other = as_type<FuncTypeNode>(known_b);
    const auto params = unify_lists(func->params(), other->params(), "parameters", mismatch);
    const auto result = params ? unify(func->result(), other->result(), mismatch) : std::nullopt;
    if (result) both = *params == func->params() && *result == func->result() ? known_a : func_type(*params, *result);
  }
  if (!both) return std::nullopt;
  if (is_hole(a) && *both != known_a) bind(a, *both);
  if (is_hole(b) && *both != known_b) bind(b, *both);
  return both;
}

std::optional<Type> TypeSolver::unify_tensors(const TensorTypeNode& a, const TensorTypeNode& b, const Type& same,
                                              Mismatch* mismatch) {
  auto differ = [&](std::string why) {
    if (mismatch) mismatch->why = std::move(why);
    return std::nullopt;
  };
  if (a.rank() != b.rank())
    return differ("one has " + std::to_string(a.rank()) + " axes, the other " + std::to_string(b.rank()));
  std::vector<Dim> shape = a.shape();
  for (int axis = 0; axis < a.rank(); ++axis) {
    if (a.shape()[axis] == b.shape()[axis]) continue;
    if (!a.shape()[axis].is_any() && !b.shape()[axis].is_any())
      return differ("axis " + std::to_string(axis) + " is " + std::to_string(a.shape()[axis].value()) +
                    " on one side and " + std::to_string(b.shape()[axis].value()) + " on the other");
    shape[axis] = Dim::any();
  }
  if (a.dtype() != b.dtype()) return differ("the element types are " + a.dtype().str() + " and " + b.dtype().str());
  return shape == a.shape() ? same : tensor_type(std::move(shape), a.dtype());
}

std::optional<std::vector<Type>> TypeSolver::unify_lists(const std::vector<Type>& a, const std::vector<Type>& b,
                                                         const char* what, Mismatch* mismatch) {
  if (a.size() != b.size()) {
    if (mismatch)
      mismatch->why = "one has " + std::to_string(a.size()) + " " + what + ", the other " + std::to_string(b.size());
    return std::nullopt;
  }
  std::vector<Type> both;
  for (size_t i = 0; i < a.size(); ++i) {
    std::optional<Type> type = unify(a[i], b[i], mismatch);
    if (!type) return std::nullopt;
    both.push_back(std::move(*type));
  }
  return both;
}

}  // namespace baton
