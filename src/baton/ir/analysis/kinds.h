#pragma once
// Kinds are to types what types are to values: a tensor, a tuple or a function has kind kType, the name
// `List` of a data type kAdtHandle, and only `List[int32]`, with as many arguments as its definition asks
// for, is again of kind kType.
#include "baton/ir/module.h"

namespace baton {

/// The kind of `type`. Throws Error when a part of it is not of the kind that its place asks for (an element
/// of a tuple, a parameter, a result, the content of a reference, a type argument: kType), when something
/// else than a data type gets arguments, and when a data type gets another number of them or is not defined
/// in `module`.
Kind kind_of(const Type& type, const IRModuleNode& module);

/// kTypeData, when the definition is well-kinded; it need not be in `module` yet. Throws Error when its
/// header is no data type's name, a type variable or an input of a constructor is not of kind kType, or a
/// constructor is another type's.
Kind kind_of(const TypeDataNode& definition, const IRModuleNode& module);

/// "Type", "AdtHandle", ...: TVM's name of it.
const char* kind_name(Kind kind);

}  // namespace baton
