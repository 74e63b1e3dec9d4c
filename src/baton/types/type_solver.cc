#include "baton/types/type_solver.h"

#include <algorithm>

#include "baton/ir/extent.h"

namespace baton {

namespace {

bool is_hole(const Type& type) { return type->kind() == TypeKind::kIncomplete; }

std::string kind_text(const Type& type) {
  switch (type->kind()) {
    case TypeKind::kTensor:
      return "a tensor";
    case TypeKind::kTuple:
      return "a tuple";
    case TypeKind::kFunc:
      return "a function";
    case TypeKind::kTypeVar:
      return "a type variable";
    case TypeKind::kGlobalTypeVar:
    case TypeKind::kTypeCall:
      return "a data type";
    case TypeKind::kRef:
      return "a reference";
    case TypeKind::kIncomplete:
      break;
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
  // Path compression: a long chain of unified holes stays linear.
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
  return rewrite_type(known, [&](const Type& part) -> Type {
    if (!is_hole(part)) return {};
    const Type inside = resolve(part);
    return is_hole(inside) ? inside : settle(inside);
  });
}

Type TypeSolver::instantiate(const FuncTypeNode& function) {
  std::vector<Type> values;
  for (size_t i = 0; i < function.type_params().size(); ++i) values.push_back(fresh());
  std::vector<Type> params;
  for (const Type& param : function.params())
    params.push_back(substitute_types(param, function.type_params(), values));
  return func_type(std::move(params), substitute_types(function.result(), function.type_params(), values));
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
    // Both holes are unified but unbound: relations deferred on this one move to the other.
    Hole& other = hole(to);
    other.waiters.insert(other.waiters.end(), waiters.begin(), waiters.end());
  } else {
    woken_.insert(woken_.end(), waiters.begin(), waiters.end());
  }
}

void TypeSolver::wait(const Type& type, Waiter waiter) { hole(type).waiters.push_back(waiter); }

void TypeSolver::holes(const Type& type, std::vector<Type>& into) {
  const Type known = resolve(type);
  switch (known->kind()) {
    case TypeKind::kIncomplete:
      if (!is_error(known) && std::find(into.begin(), into.end(), known) == into.end()) into.push_back(known);
      return;
    case TypeKind::kTuple:
      for (const Type& field : as_type<TupleTypeNode>(known)->fields()) holes(field, into);
      return;
    case TypeKind::kFunc:
      for (const Type& param : as_type<FuncTypeNode>(known)->params()) holes(param, into);
      return holes(as_type<FuncTypeNode>(known)->result(), into);
    case TypeKind::kTypeCall:
      for (const Type& arg : as_type<TypeCallNode>(known)->args()) holes(arg, into);
      return;
    case TypeKind::kRef:
      return holes(as_type<RefTypeNode>(known)->value(), into);
    case TypeKind::kTensor:
    case TypeKind::kTypeVar:
    case TypeKind::kGlobalTypeVar:
      return;
  }
}

std::optional<Type> TypeSolver::unify(const Type& left, const Type& right, Mismatch* mismatch) {
  if (left == right) return left;
  const Type a = is_hole(left) ? representative(left) : left,
             b = is_hole(right) ? representative(right) : right;
  if (a == b) return a;
  const Type known_a = resolve(a), known_b = resolve(b);
  if (is_error(known_a) || is_error(known_b)) {
    if (is_hole(known_a) && !is_error(known_a)) bind(known_a, error_);
    if (is_hole(known_b) && !is_error(known_b)) bind(known_b, error_);
    return error_;
  }
  if (is_hole(known_a) || is_hole(known_b)) {
    const Type& hole = is_hole(known_a) ? known_a : known_b;
    const Type& other = is_hole(known_a) ? b : a;  // a bound hole stays the link, so that it may be refined
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
    const auto fields =
        unify_lists(tuple->fields(), as_type<TupleTypeNode>(known_b)->fields(), "fields", mismatch);
    if (fields) both = *fields == tuple->fields() ? known_a : tuple_type(*fields);
  } else if (known_a->kind() == TypeKind::kFunc) {
    both = unify_functions(known_a, known_b, mismatch);
  } else if (const auto* call = as_type<TypeCallNode>(known_a)) {
    const auto* other = as_type<TypeCallNode>(known_b);
    if (same_type(call->callee(), other->callee())) {
      const auto args = unify_lists(call->args(), other->args(), "type arguments", mismatch);
      if (args) both = *args == call->args() ? known_a : type_call(call->callee(), *args);
    } else if (mismatch) {
      mismatch->why = "they are different data types";
    }
  } else if (const auto* ref = as_type<RefTypeNode>(known_a)) {
    const auto value = unify(ref->value(), as_type<RefTypeNode>(known_b)->value(), mismatch);
    if (value) both = *value == ref->value() ? known_a : ref_type(*value);
  } else if (same_type(known_a, known_b)) {
    both = known_a;
  } else if (mismatch) {
    mismatch->why = "a type variable stands for any type: the caller chooses it";
  }
  if (!both) return std::nullopt;
  if (is_hole(a) && *both != known_a) bind(a, *both);
  if (is_hole(b) && *both != known_b) bind(b, *both);
  return both;
}

// The type parameters of two polymorphic functions are paired by position; those that only one has stand for
// what the other has in their places. When only one is polymorphic, it is instantiated to match the other.
std::optional<Type> TypeSolver::unify_functions(const Type& a, const Type& b, Mismatch* mismatch) {
  const auto *left = as_type<FuncTypeNode>(a), *right = as_type<FuncTypeNode>(b);
  if (left->type_params().empty() != right->type_params().empty())
    return left->type_params().empty() ? unify_functions(a, instantiate(*right), mismatch)
                                       : unify_functions(instantiate(*left), b, mismatch);
  if (left->type_params().size() > right->type_params().size()) return unify_functions(b, a, mismatch);
  Type renamed = b;
  if (!left->type_params().empty() && left->type_params() != right->type_params()) {
    std::vector<Type> names(left->type_params().begin(), left->type_params().end());
    while (names.size() < right->type_params().size()) names.push_back(fresh());
    std::vector<Type> params;
    for (const Type& param : right->params())
      params.push_back(substitute_types(param, right->type_params(), names));
    renamed = func_type(std::move(params), substitute_types(right->result(), right->type_params(), names),
                        left->type_params());
    right = as_type<FuncTypeNode>(renamed);
  }
  const auto params = unify_lists(left->params(), right->params(), "parameters", mismatch);
  const auto result = params ? unify(left->result(), right->result(), mismatch) : std::nullopt;
  if (!result) return std::nullopt;
  return *params == left->params() && *result == left->result()
             ? a
             : func_type(*params, *result, left->type_params());
}

// A variable and a number: it has that value from then on.
std::optional<Dim> TypeSolver::unify_extents(Dim a, Dim b) {
  const auto value = [&](Dim dim) {
    for (const auto& [var, number] : extents_)
      if (var == dim) return number;
    return dim;
  };
  const Dim left = value(a), right = value(b);
  if (left == right) return left;
  if (left == Dim::any() || right == Dim::any()) return Dim::any();
  if (left.is_any() == right.is_any() || !(as_extent_var(left) || as_extent_var(right))) return std::nullopt;
  const auto& [var, number] = left.is_any() ? std::pair(left, right) : std::pair(right, left);
  extents_.emplace_back(var, number);
  return number;
}

std::optional<Type> TypeSolver::unify_tensors(const TensorTypeNode& a, const TensorTypeNode& b,
                                              const Type& same, Mismatch* mismatch) {
  auto differ = [&](std::string why) {
    if (mismatch) mismatch->why = std::move(why);
    return std::nullopt;
  };
  if (a.rank() != b.rank())
    return differ("one has " + std::to_string(a.rank()) + " axes, the other " + std::to_string(b.rank()));
  std::vector<Dim> shape = a.shape();
  for (int axis = 0; axis < a.rank(); ++axis) {
    if (a.shape()[axis] == b.shape()[axis]) continue;
    const std::optional<Dim> both = unify_extents(a.shape()[axis], b.shape()[axis]);
    if (!both)
      return differ("axis " + std::to_string(axis) + " is " + extent_text(a.shape()[axis]) +
                    " on one side and " + extent_text(b.shape()[axis]) + " on the other" +
                    (extent_text(a.shape()[axis]) == extent_text(b.shape()[axis])
                         ? ": variables of one name, but not the same"
                         : ""));
    shape[axis] = *both;
  }
  if (a.dtype() != b.dtype())
    return differ("the element types are " + a.dtype().str() + " and " + b.dtype().str());
  return shape == a.shape() ? same : tensor_type(std::move(shape), a.dtype());
}

std::optional<std::vector<Type>> TypeSolver::unify_lists(const std::vector<Type>& a,
                                                         const std::vector<Type>& b, const char* what,
                                                         Mismatch* mismatch) {
  if (a.size() != b.size()) {
    if (mismatch)
      mismatch->why =
          "one has " + std::to_string(a.size()) + " " + what + ", the other " + std::to_string(b.size());
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
