#pragma once
// Between run-time values (runtime/values/value.h) and the IR: constructors, and values as expressions.
#include "baton/ir/adt.h"
#include "baton/runtime/values/value.h"

namespace baton::program {

/// What values say of `constructor`, which may be null.
ConstructorRef info_of(const Constructor& constructor);

/// The constructor whose info_of() the value holds, or null.
Constructor constructor_of(const DataValue& value);

/// The value as an expression: constants, tuples, constructor calls, new references. Throws Error for a
/// function, and for a data type value whose constructor is unknown.
Expr expr_of(const Value& value);

}  // namespace baton::program
