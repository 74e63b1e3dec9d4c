#pragma once
// Leaving an operator out of a kernel (design D4, method B): what it passes on, and which operators can be
// left out so that the rest of the kernel does what it did before.
#include <string>

#include "baton/codegen/kernel/kernel.h"

namespace baton {

/// Which of its flattened inputs a block passes on when it is left out: of the result's shape and type if
/// there is one, and of several one that the kernel computes. Always an input: a block has at least one.
int passed_on(const KernelBlock& block, const TensorTypeNode& result);

/// Why the block's marginal time cannot be found by leaving it out; "" when it can. What it passes on must be
/// of its result's type, and all of what the kernel computes for its other inputs must still be read: a
/// producer that need not make everything any more would be billed to the block.
std::string refuses_ablation(const KernelBlock& block);

}  // namespace baton
