#pragma once
// Memory of reference-counted nodes. Nodes of one size lie side by side in the order they were made in, apart
// from all other memory of the process: walks over graphs of megabytes wait for little else than memory, and
// most graphs are walked in the order they were made in. See docs/design/0008-node-memory.md.
#include <cstddef>
#include <cstdint>

namespace baton::node_pool {

/// `bytes` of memory, aligned to 16; std::bad_alloc when there is none. Any thread may give it back.
void* take(size_t bytes);
/// Gives back what `take(bytes)` returned.
void give(void* memory, size_t bytes) noexcept;
/// Bytes that this thread has taken, less those that it gave back.
int64_t balance();

}  // namespace baton::node_pool
