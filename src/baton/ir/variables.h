#pragma once
// Variables and type variables of programs and types: all, free and bound ones.
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// Every variable of `root`, bound or used, once each, in the order of the text.
std::vector<Var> all_vars(const Expr& root);

/// Those used but not bound inside, in the order of their first use.
std::vector<Var> free_vars(const Expr& root);
/// Those bound inside, by functions, lets and patterns, in the order of the text.
std::vector<Var> bound_vars(const Expr& root);

/// Every type variable of `root`, declared by a function or in an annotation, once each; a function's own
/// come before those in its annotations, and both before those of its body.
std::vector<TypeVar> all_type_vars(const Expr& root);
/// Type variables in annotations that no function inside declares, and those that one declares.
std::vector<TypeVar> free_type_vars(const Expr& root);
std::vector<TypeVar> bound_type_vars(const Expr& root);

/// The same in a type. Declared by its function types, in any of its parts: bound; the rest: free.
std::vector<TypeVar> all_type_vars(const Type& type);
std::vector<TypeVar> bound_type_vars(const Type& type);
std::vector<TypeVar> free_type_vars(const Type& type);

}  // namespace baton
