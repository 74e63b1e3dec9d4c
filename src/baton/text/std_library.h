#pragma once
// Relay's standard library: definitions imported by name.
#include <string>
#include <vector>

#include "baton/ir/module.h"

namespace baton {

namespace text {
extern const char* const kPrelude;
extern const char* const kNat;
extern const char* const kGradient;
extern const char* const kCore;
extern const char* const kTensorArray;
}  // namespace text

/// The names accepted by import_std: "prelude.rly", "nat.rly", "gradient.rly", "core.rly".
std::vector<std::string> std_library_names();
/// Adds the definitions of a part of the library to `module`. Their spans refer to "std/prelude.rly" etc.;
/// nothing is inferred. Error for an unknown part, DiagnosticError when the module already defines one of the
/// names.
void import_std(IRModuleNode& module, const std::string& name);
/// Adds the data type `tensor_float32_t` and the functions on lists of it, for element type `dtype`; requires
/// the prelude. `number` is the number of element types added before; it makes variable names unique.
void import_tensor_array(IRModuleNode& module, const std::string& dtype, int number);

}  // namespace baton
