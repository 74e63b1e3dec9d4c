// Blocks of memory for tensors: aligned for vectors, and backed by huge pages where that pays.
#pragma once

#include <cstddef>

namespace baton {

/// Uninitialised memory: aligned to 64 bytes, to a page from 4 KiB on, to 2 MiB (and advised to be huge
/// pages) from 2 MiB on. One vector (64 bytes) behind the end may be read. Null when there is none, or for
/// more than 1 TiB. Freed by std::free.
void* allocate_aligned(size_t bytes);

}  // namespace baton
