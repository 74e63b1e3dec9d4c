#pragma once
// The memory pool for reference-counted nodes. Nodes of one size class are contiguous in allocation order:
// walks over large graphs are memory bound, and most graphs are walked in allocation order. See
// docs/design/0008-node-memory.md.
#include <cstddef>
#include <cstdint>

namespace baton::node_pool {

/// Allocates `bytes`, 16-byte aligned; throws std::bad_alloc. Any thread may free it.
void* take(size_t bytes);
/// Frees memory returned by `take(bytes)`.
void give(void* memory, size_t bytes) noexcept;
/// Bytes allocated minus bytes freed by this thread.
int64_t balance();

}  // namespace baton::node_pool
