#pragma once
// Where hash tables of addresses look.
#include <cstddef>
#include <cstdint>

namespace baton {

/// The slots of a table of addresses, in the order in which one address tries them. The table has a power of
/// two of slots, at least half of them free.
///
/// Pages of memory are spread evenly, and what lies in one page stays together: nodes of a graph lie mostly
/// in the order that they were made in (node_pool.h) and are walked in, so neighbours share cache lines of
/// the table too. Two full pages that begin at the same slot would push each other's addresses aside by a
/// hundred slots: after a few neighbours an address goes on with steps of its own.
class PointerProbe {
 public:
  PointerProbe(const void* pointer, size_t slots)
      : address_(reinterpret_cast<uintptr_t>(pointer)), mask_(slots - 1) {
    constexpr int kPageBits = 12,
                  kGrainBits = 4;  // allocations are so far apart at least: no two share a slot
    const uint64_t page = (address_ >> kPageBits) * 0x9E3779B97F4A7C15ull >> 20;
    const uint64_t inside = (address_ & ((uint64_t{1} << kPageBits) - 1)) >> kGrainBits;
    at_ = ((page << (kPageBits - kGrainBits)) + inside) & mask_;
  }
  size_t at() const { return at_; }
  void next() {
    constexpr int kNeighbours = 8;
    if (++tried_ == kNeighbours) step_ = address_ * 0xD6E8FEB86659FD93ull >> 32 | 1;  // odd: meets every slot
    at_ = (at_ + step_) & mask_;
  }

 private:
  uint64_t address_;
  size_t mask_, at_, step_ = 1;
  int tried_ = 0;
};

}  // namespace baton
