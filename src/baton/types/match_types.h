#pragma once
// Matches a function's type parameters against the argument types of a call.
#include <vector>

#include "baton/ir/type.h"

namespace baton {

/// Matches `declared`, a type over `vars`, with `given` and adds each variable not yet in `found` with the
/// corresponding type. Mismatched forms are ignored: inference has checked them.
void match_types(const Type& declared, const Type& given, const std::vector<TypeVar>& vars,
                 std::vector<TypeVar>& found, std::vector<Type>& types);

}  // namespace baton
