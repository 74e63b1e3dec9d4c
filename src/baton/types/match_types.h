#pragma once
// Which types the type variables of a function stand for in a call of it.
#include <vector>

#include "baton/ir/type.h"

namespace baton {

/// Compares a type over `vars` with the one that is given in its place, and adds each variable that is not
/// yet in `found` with what stands there. Types of other forms are passed over: inference has seen to them.
void match_types(const Type& declared, const Type& given, const std::vector<TypeVar>& vars,
                 std::vector<TypeVar>& found, std::vector<Type>& types);

}  // namespace baton
