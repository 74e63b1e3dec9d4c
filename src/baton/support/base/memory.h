// Memory blocks for tensors: aligned for vectors, and on huge pages where that pays off.
#pragma once

#include <cstddef>

namespace baton {

/// Uninitialised memory: 64-byte aligned; page aligned from 4 KiB on; aligned to 2 MiB, with huge pages
/// advised, from 2 MiB on. One vector (64 bytes) past the end is readable, and cleared (clear_past_end).
/// Null when out of memory, or for more than 1 TiB. Freed by std::free.
void* allocate_aligned(size_t bytes);

/// Clears the vector (64 bytes) past the end of a block. A kernel whose channels fill part of a vector reads
/// it and computes with it, though no result depends on it: integers of the heap are denormal as float32, and
/// made a kernel with sigmoids three times slower.
void clear_past_end(void* block, size_t bytes);

/// Returns to the system what malloc keeps of freed blocks, of all threads (glibc; elsewhere nothing is
/// done). Milliseconds. For the ends of phases that free much.
void release_free_memory();

}  // namespace baton
