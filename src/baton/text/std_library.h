#pragma once
// Relay's standard library: definitions that programs import by name.
#include <string>
#include <vector>

#include "baton/ir/module.h"

namespace baton {

namespace text {
extern const char* const kPrelude;
extern const char* const kNat;
extern const char* const kGradient;
extern const char* const kTensorArray;
}  // namespace text

/// What `import_from_std` knows: "prelude.rly", "nat.rly", "gradient.rly".
std::vector<std::string> std_library_names();
/// Adds the definitions of a part of the library to `module`. Spans name "std/prelude.rly" and so on; nothing
/// is inferred. Error when there is no such part, DiagnosticError when the module has one of the names
/// already.
void import_std(IRModuleNode& module, const std::string& name);
/// Adds the data type `tensor_float32_t` and the functions over lists of it, for element type `dtype`; the
/// prelude must be there. `number` counts the element types that were added before: it keeps the names of
/// variables apart.
void import_tensor_array(IRModuleNode& module, const std::string& dtype, int number);

}  // namespace baton
