#pragma once
// Kernels that read what lies next to each other in the order of another loop than their innermost one:
// changes of layout, transposes. For .cc files of schedule only.
#include <optional>

#include "baton/schedule/regions.h"

namespace baton {

/// The loop, in Halide's order, along which an operand is contiguous, and the iterations for which it is.
struct TransposedLoop {
  int dim = 0;
  int length = 0;
};

/// The loop of a pure Func, over `loops`, along which inputs are read; nullopt where all operands are
/// contiguous along the innermost loop, or do not depend on it. Among several loops it is the one with the
/// longest stretch.
std::optional<TransposedLoop> find_transposed_loop(const Halide::Func& func,
                                                   const std::vector<LoopRange>& loops);

}  // namespace baton
