#pragma once
// The probe sequence of hash tables of addresses.
#include <cstddef>
#include <cstdint>

namespace baton {

/// The slots that an address is looked up at, in order. The table size is a power of two, and at least half
/// of the slots are free.
/// | Memory pages are spread evenly, and addresses in one page keep their order: nodes are mostly walked in
/// allocation order (node_pool.h), so neighbours share cache lines of the table too. Two full pages that
/// begin at the same slot would displace each other's addresses by a hundred slots: after a few linear probes
/// an address continues with its own step.
class PointerProbe {
 public:
  PointerProbe(const void* pointer, size_t slots)
      : address_(reinterpret_cast<uintptr_t>(pointer)), mask_(slots - 1) {
    constexpr int kPageBits = 12,
                  kGrainBits = 4;  // the minimum distance of allocations: no two share a slot
    const uint64_t page = (address_ >> kPageBits) * 0x9E3779B97F4A7C15ull >> 20;
    const uint64_t inside = (address_ & ((uint64_t{1} << kPageBits) - 1)) >> kGrainBits;
    at_ = ((page << (kPageBits - kGrainBits)) + inside) & mask_;
  }
  size_t at() const { return at_; }
  void next() {
    constexpr int kNeighbours = 8;
    if (++tried_ == kNeighbours)
      step_ = address_ * 0xD6E8FEB86659FD93ull >> 32 | 1;  // odd: visits every slot
    at_ = (at_ + step_) & mask_;
  }

 private:
  uint64_t address_;
  size_t mask_, at_, step_ = 1;
  int tried_ = 0;
};

}  // namespace baton
