#pragma once
// Numbers addresses 0, 1, 2, ... in order of first use. Performance critical for walks over large graphs: one
// flat table, no allocation per entry.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "baton/support/pointer_probe.h"

namespace baton {

class PointerIndex {
 public:
  static constexpr uint32_t kNone = ~0u;

  /// The number of `pointer` (not null), and whether it is new.
  std::pair<uint32_t, bool> add(const void* pointer) {
    if (2 * size_ >= slots_.size()) grow();
    Slot& found = slots_[slot(pointer)];
    if (found.pointer) return {found.index, false};
    found = {pointer, size_};
    return {size_++, true};
  }
  /// The number of `pointer`, or kNone.
  uint32_t find(const void* pointer) const {
    if (slots_.empty()) return kNone;
    const Slot& found = slots_[slot(pointer)];
    return found.pointer ? found.index : kNone;
  }
  bool contains(const void* pointer) const { return find(pointer) != kNone; }
  uint32_t size() const { return size_; }

 private:
  struct Slot {
    const void* pointer = nullptr;
    uint32_t index = 0;
  };
  size_t slot(const void* pointer) const {
    PointerProbe probe(pointer, slots_.size());
    while (slots_[probe.at()].pointer && slots_[probe.at()].pointer != pointer) probe.next();
    return probe.at();
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& each : old)
      if (each.pointer) slots_[slot(each.pointer)] = each;
  }

  std::vector<Slot> slots_;
  uint32_t size_ = 0;
};

}  // namespace baton
