#pragma once
// The fallback schedule of GPUs, of which other GPU templates use parts. For .cc files of schedule only.
#include "baton/schedule/common.h"

namespace baton {

/// Threads per block: a multiple of the vector width of every current GPU.
inline constexpr int kThreadsPerBlock = 64;

/// Gives `func` a launch of its own for each definition: one thread per element of its pure loops, which runs
/// the reduction loops; one thread in all for a definition without pure loops, whose order must be kept.
void one_thread_per_element(Halide::Func func);

}  // namespace baton
