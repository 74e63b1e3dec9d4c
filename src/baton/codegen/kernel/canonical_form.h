#pragma once
// The text that kernels are identified by.
#include <string>

#include "baton/ir/expr.h"

namespace baton {

/// Bytes that are equal for two fused functions only if one kernel computes both: their nodes with types,
/// attributes and constants, each shared node once, parameters in order; not names, those of extents'
/// variables included, origins and spans. The same on every machine and in every process. Throws NotSupported
/// for a function that cannot be a kernel.
std::string canonical_form(const FunctionNode& function);

}  // namespace baton
