#pragma once
// Where hash tables of addresses begin to look.
#include <cstddef>
#include <cstdint>

namespace baton {

/// Pages of memory are spread evenly, and what lies in one page stays together: nodes of a graph lie mostly in the order
/// that they were made in (node_pool.h) and are walked in, so neighbours share cache lines of the table too. The low bits
/// count; tables have a power of two of slots, at least half of them free.
inline size_t pointer_hash(const void* pointer) {
  constexpr int kPageBits = 12, kGrainBits = 5;  // so many bytes of a page have one slot
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const uint64_t page = (address >> kPageBits) * 0x9E3779B97F4A7C15ull >> 20;
  const uint64_t inside = (address & ((uint64_t{1} << kPageBits) - 1)) >> kGrainBits;
  return static_cast<size_t>((page << (kPageBits - kGrainBits)) + inside);
}

}  // namespace baton
