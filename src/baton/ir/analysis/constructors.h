#pragma once
// Finding constructors of a module's data types: by name, or by a number that says the type, too.
#include <string>

#include "baton/ir/module.h"

namespace baton {

/// The number of a constructor among those of all types: its place in the low 24 bits, a byte made of its
/// type's name above them. -1 when it was never part of a definition. The same on every machine.
int32_t constructor_tag(const ConstructorNode& constructor);

/// Throws Error when no type of `module` has it, or two have.
Constructor find_constructor(const IRModuleNode& module, int32_t tag);
/// Throws Error, which says what there is, when there is no such type or constructor.
Constructor find_constructor(const IRModuleNode& module, const std::string& type, const std::string& name);

}  // namespace baton
