// Scratch memory of kernels. Freed blocks are kept, with their pages faulted in: allocating from the system
// each time made a staged convolution six times slower.
#pragma once

#include <cstddef>
#include <cstdint>

namespace baton {

/// Memory for one kernel: 128-byte aligned, readable for 128 bytes before and after. Null when out of memory.
/// Thread safe.
void* scratch_allocate(size_t bytes);

/// Null is a no-op.
void scratch_free(void* block);

struct ScratchStats {
  uint64_t system_allocations = 0;  ///< number of blocks ever taken from the system
  uint64_t reserved_bytes = 0;      ///< currently held from the system
  uint64_t idle_bytes = 0;          ///< of these, on the shared free lists
};

ScratchStats scratch_stats();

/// Returns the free blocks on the shared lists and of the calling thread to the system; other threads do so
/// on their next allocation. Returns the bytes freed now.
size_t scratch_trim();

}  // namespace baton
