// Memory blocks for tensors: aligned for vectors, and on huge pages where that pays off.
#pragma once

#include <cstddef>

namespace baton {

/// Uninitialised memory: 64-byte aligned; page aligned from 4 KiB on; aligned to 2 MiB, with huge pages
/// advised, from 2 MiB on. One vector (64 bytes) past the end is readable. Null when out of memory, or for
/// more than 1 TiB. Freed by std::free.
void* allocate_aligned(size_t bytes);

/// Returns to the system what malloc keeps of freed blocks, of all threads (glibc; elsewhere nothing is
/// done). Milliseconds. For the ends of phases that free much.
void release_free_memory();

}  // namespace baton
