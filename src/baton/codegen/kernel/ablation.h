#pragma once
// Ablation of an operator in a kernel (design D4, method B): the value that replaces it, and which operators
// can be ablated without changing the work of the rest.
#include <string>

#include "baton/codegen/kernel/kernel.h"

namespace baton {

/// The flattened input that replaces an ablated block's result: preferably one of the result's shape and
/// type, and of several one computed in the kernel. A block has at least one input.
int passed_on(const KernelBlock& block, const TensorTypeNode& result);

/// Why the block's marginal time cannot be measured by ablation; "" when it can. The replacement must have
/// the result's type, and the other inputs computed in the kernel must still be read completely: otherwise a
/// producer's saved work would be attributed to the block.
std::string refuses_ablation(const KernelBlock& block);

}  // namespace baton
