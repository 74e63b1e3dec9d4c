// The scratch memory of kernels. What is freed is kept, faulted in, for the next kernel: asking the system
// each time made a staged convolution six times slower.
#pragma once

#include <cstddef>
#include <cstdint>

namespace baton {

/// Memory for one kernel: aligned to 128 bytes, readable for 128 bytes before and behind. Null when there is
/// none. Thread safe.
void* scratch_allocate(size_t bytes);

/// Null is allowed.
void scratch_free(void* block);

struct ScratchStats {
  uint64_t system_allocations = 0;  ///< blocks ever taken from the system
  uint64_t reserved_bytes = 0;      ///< taken from the system and not given back
  uint64_t idle_bytes = 0;          ///< of these, on the shared lists of free blocks
};

ScratchStats scratch_stats();

/// Gives the free blocks on the shared lists and of the calling thread back to the system; other threads give
/// theirs back when they next allocate. Returns the bytes freed now.
size_t scratch_trim();

}  // namespace baton
