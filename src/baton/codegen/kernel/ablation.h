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

/// The flattened input that has the elements of the block's result, all of them and unchanged, perhaps in
/// another order: of reshapes and transpositions. -1: the block computes something, or has several results.
int moved_input(const KernelBlock& block);

/// `function`, whose blocks these are, without a block that only moves elements: what computes them writes
/// them where they are without it. Reshapes behind it go, too. The bytes of parameters and results stay the
/// same. Null where more follows than operators on single values.
Function without_move(const FunctionNode& function, const std::vector<KernelBlock>& blocks, int block);

}  // namespace baton
