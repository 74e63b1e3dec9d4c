#pragma once
// Variables and type variables of expressions and types: all, free and bound.
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// Every variable of `root`, bound or used, once each, in textual order.
std::vector<Var> all_vars(const Expr& root);

/// Variables used but not bound in `root`, in the order of their first use.
std::vector<Var> free_vars(const Expr& root);
/// Variables bound in `root` by functions, lets and patterns, in textual order.
std::vector<Var> bound_vars(const Expr& root);

/// Every type variable of `root`, declared by a function or used in an annotation, once each, in textual
/// order: a function's parameters, then its annotations, then its body.
std::vector<TypeVar> all_type_vars(const Expr& root);
/// Type variables in annotations: free ones, and those declared by a function inside.
std::vector<TypeVar> free_type_vars(const Expr& root);
std::vector<TypeVar> bound_type_vars(const Expr& root);

/// The same for a type. Bound: declared by a function type within it; free: the rest.
std::vector<TypeVar> all_type_vars(const Type& type);
std::vector<TypeVar> bound_type_vars(const Type& type);
std::vector<TypeVar> free_type_vars(const Type& type);

}  // namespace baton
