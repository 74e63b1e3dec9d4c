#pragma once
// Initializers as parameters of the module.
#include <string_view>
#include <utility>
#include <vector>

#include "baton/frontend/onnx/import.h"

namespace baton::onnx {

/// Constants of a module, by their names in the file.
using Initializers = std::vector<std::pair<std::string_view, Expr>>;

/// `module` with the initializers that its `main` reads as parameters behind those that are there, in the
/// order given, and their values.
Imported with_parameters(IRModule module, const Initializers& initializers);

}  // namespace baton::onnx
