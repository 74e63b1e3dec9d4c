#pragma once
// Axes of elementwise kernels that need no loops of their own.
#include "baton/ir/expr.h"

namespace baton {

/// `function`, with neighbouring axes as one wherever each tensor either has all of them or repeats along all
/// of them: add((1, C, H, W, c), (1, C, 1, 1, c)) as add((C, H * W, c), (C, 1, c)). For functions of
/// operators that are free of positions, and concatenations, whose axis stays. The first axis of more than
/// one element stays, too: kernels run in parallel along it. Halide and LLVM take a third less time for 3
/// loops than for
/// 5. The bytes of parameters and results, and the calls in order, stay the same. Returns `function` itself
/// where there is nothing to join. `function` is typed, as lower() asks.
Function join_axes(const Function& function);

}  // namespace baton
