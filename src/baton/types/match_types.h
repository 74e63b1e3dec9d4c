#pragma once
// Matches a function's type parameters against the argument types of a call.
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// Matches `declared`, a type over `vars`, with `given` and adds each variable not yet in `found` with the
/// corresponding type. Mismatched forms are ignored: inference has checked them.
void match_types(const Type& declared, const Type& given, const std::vector<TypeVar>& vars,
                 std::vector<TypeVar>& found, std::vector<Type>& types);

/// What the type parameters of a typed call's callee are: those of a polymorphic function, of a constructor's
/// data type, and for an operator the types of its arguments, then of its result. A parameter that no
/// argument determines is incomplete; empty for other callees, for global functions, and before inference.
std::vector<Type> type_arguments(const CallNode& call);

}  // namespace baton
