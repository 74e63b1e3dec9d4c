#pragma once
#include "baton/ir/expr.h"
#include "baton/schedule/kernel_choice.h"

namespace baton {

/// Transposed convolutions with strides, as one convolution without strides for each position of a square of
/// results, where Winograd's algorithm makes these faster together: results of a stride of 2 read every other
/// tap only. `function` is typed, and so is the result; the same object when nothing changed.
Function with_transposed_phases(const Function& function, const IRModuleNode& module,
                                const KernelChoice& choice, const DeviceSheet& sheet);

}  // namespace baton
