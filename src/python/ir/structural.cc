#include "baton/ir/structural.h"

#include "baton/ir/variables.h"
#include "baton/support/hash.h"

#include "python/bind.h"
#include "python/ir/extents.h"

namespace baton::python {

namespace {

[[noreturn]] void neither() {
  throw nb::type_error("an IRModule, an expression, a type or a TypeData is expected");
}

// Free variables of types become partners in the order of their first use.
void pair_type_vars(const Type& a, const Type& b, TypePairs& pairs) {
  const std::vector<TypeVar> left = free_type_vars(a), right = free_type_vars(b);
  for (size_t i = 0; i < std::min(left.size(), right.size()); ++i)
    if (left[i]->var_kind() == right[i]->var_kind()) pairs.vars.emplace_back(left[i].get(), right[i].get());
}

bool equal(nb::handle lhs, nb::handle rhs, bool map_free_vars) {
  IRModule module_a, module_b;
  if (nb::try_cast(lhs, module_a, false)) {
    return nb::try_cast(rhs, module_b, false) && structural_equal(*module_a, *module_b, map_free_vars);
  }
  Expr expr_a, expr_b;
  if (nb::try_cast(lhs, expr_a, false))
    return nb::try_cast(rhs, expr_b, false) && structural_equal(expr_a, expr_b, map_free_vars);
  Type type_a, type_b;
  TypePairs pairs;
  pairs.pair_extents = map_free_vars;
  if (nb::try_cast(lhs, type_a, false)) {
    if (!nb::try_cast(rhs, type_b, false)) return false;
    if (map_free_vars) pair_type_vars(type_a, type_b, pairs);
    return same_type(type_a, type_b, pairs);
  }
  if (nb::isinstance<SymbolicExtent>(lhs)) {
    const std::optional<Dim> other = extent_from_python(rhs);
    return other && same_extent(nb::cast<SymbolicExtent>(lhs).dim, *other, pairs);
  }
  TypeData data_a, data_b;
  if (nb::try_cast(lhs, data_a, false))
    return nb::try_cast(rhs, data_b, false) && structural_equal(*data_a, *data_b);
  Attrs attrs_a, attrs_b;
  if (nb::try_cast(lhs, attrs_a, false))
    return nb::try_cast(rhs, attrs_b, false) && same_attrs(attrs_a, attrs_b);
  neither();
}

// Free variables are equal to themselves alone: they are hashed as objects.
uint64_t with_free_vars(uint64_t hash, const Expr& expr) {
  const std::vector<Var> free = free_vars(expr);
  if (free.empty()) return hash;
  Hasher hasher(hash);
  for (const Var& var : free) hasher.add(static_cast<uint64_t>(reinterpret_cast<uintptr_t>(var.get())));
  return hasher.value();
}

int64_t hash(nb::handle node, bool map_free_vars) {
  uint64_t value = 0;
  IRModule module;
  Expr expr;
  Type type;
  if (nb::try_cast(node, module, false))
    value = structural_hash(*module);
  else if (nb::try_cast(node, expr, false))
    value = map_free_vars ? structural_hash(expr) : with_free_vars(structural_hash(expr), expr);
  else if (nb::try_cast(node, type, false))
    value = type_hash(type);
  else if (nb::isinstance<SymbolicExtent>(node))
    value = extent_hash(nb::cast<SymbolicExtent>(node).dim);
  else
    neither();
  return static_cast<int64_t>(value);
}

}  // namespace

void bind_structural(nb::module_& m) {
  m.def("structural_equal", &equal, nb::arg("lhs").none(), nb::arg("rhs").none(),
        nb::arg("map_free_vars") = false,
        "Whether both mean the same: names of bound variables, types that were only inferred and positions "
        "do not count.");
  m.def("structural_hash", &hash, nb::arg("node"), nb::arg("map_free_vars") = false,
        "Equal for structurally equal nodes: on every machine and in every run for nodes without free "
        "variables, "
        "and for all with map_free_vars; else free variables count as the objects that they are.");
}

}  // namespace baton::python
