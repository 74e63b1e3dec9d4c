#pragma once
// Finds constructors of a module's data types by name, or by a tag that encodes the type.
#include <string>

#include "baton/ir/module.h"

namespace baton {

/// A constructor's global tag: its index in the low 24 bits, a 7-bit hash of its type's name above. -1 when
/// it is not part of a definition. The same on every machine.
int32_t constructor_tag(const ConstructorNode& constructor);

/// Throws Error when no constructor of `module` has this tag, or two have.
Constructor find_constructor(const IRModuleNode& module, int32_t tag);
/// Throws Error, listing the alternatives, when there is no such type or constructor.
Constructor find_constructor(const IRModuleNode& module, const std::string& type, const std::string& name);

}  // namespace baton
