#pragma once
// Kind checking. Kinds classify types: tensors, tuples and functions have kind kType; the name `List` of a
// data type has kind kAdtHandle; `List[int32]`, with as many arguments as its definition has parameters, has
// kind kType.
#include "baton/ir/module.h"

namespace baton {

/// The kind of `type`. Throws Error when a component is not of the required kind (tuple fields, parameters,
/// results, reference contents and type arguments: kType), when arguments are applied to something other than
/// a data type, when their number differs from the definition, or when the data type is not defined in
/// `module`.
Kind kind_of(const Type& type, const IRModuleNode& module);

/// kTypeData when the definition is well-kinded; it need not be in `module` yet. Throws Error when its header
/// is not a data type's name, a type variable or a constructor input is not of kind kType, or a constructor
/// belongs to another type.
Kind kind_of(const TypeDataNode& definition, const IRModuleNode& module);

/// TVM's name of the kind: "Type", "AdtHandle", ...
const char* kind_name(Kind kind);

}  // namespace baton
