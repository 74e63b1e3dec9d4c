#pragma once
// A hash map keyed by addresses, for walks over large graphs: open addressing over a dense array, several
// times as fast as std::unordered_map. Iterates in insertion order, so it is deterministic. No erase.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "baton/support/pointer_probe.h"

namespace baton {

template <class V>
class PointerMap {
 public:
  struct Entry {
    const void* key;
    V value;
  };

  /// The value at `key`, or null. Valid until the next insertion. Forced inline: otherwise
  /// g++ makes it a call in walks, depending on what is compiled in the same batch.
  [[gnu::always_inline]] V* find(const void* key) {
    if (slots_.empty()) return nullptr;
    const uint32_t entry = slots_[slot(key)];
    return entry == kFree ? nullptr : &entries_[entry].value;
  }
  [[gnu::always_inline]] const V* find(const void* key) const {
    return const_cast<PointerMap*>(this)->find(key);
  }
  bool contains(const void* key) const { return find(key) != nullptr; }

  /// Adds `value` unless the key exists; second: whether it was added.
  std::pair<V*, bool> insert(const void* key, V value) {
    if (entries_.size() * 2 >= slots_.size()) grow();
    uint32_t& entry = slots_[slot(key)];
    if (entry != kFree) return {&entries_[entry].value, false};
    entry = static_cast<uint32_t>(entries_.size());
    entries_.push_back({key, std::move(value)});
    return {&entries_.back().value, true};
  }
  /// The value of entry `index`, in insertion order.
  V& value(size_t index) { return entries_[index].value; }
  /// The value at `key`, default-constructed if absent.
  V& operator[](const void* key) { return *insert(key, V()).first; }

  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  const std::vector<Entry>& entries() const { return entries_; }
  void clear() {
    slots_.clear();
    entries_.clear();
  }

 private:
  static constexpr uint32_t kFree = UINT32_MAX;
  // The slot of the key, or the one where it would be inserted.
  size_t slot(const void* key) const {
    PointerProbe probe(key, slots_.size());
    while (slots_[probe.at()] != kFree && entries_[slots_[probe.at()]].key != key) probe.next();
    return probe.at();
  }
  void grow() {
    slots_.assign(slots_.empty() ? 16 : slots_.size() * 2, kFree);
    for (size_t i = 0; i < entries_.size(); ++i) slots_[slot(entries_[i].key)] = static_cast<uint32_t>(i);
  }

  std::vector<uint32_t> slots_;
  std::vector<Entry> entries_;
};

/// A set of addresses: insert() returns whether the address is new.
class PointerSet {
 public:
  bool insert(const void* key) { return map_.insert(key, {}).second; }
  bool contains(const void* key) const { return map_.contains(key); }
  size_t size() const { return map_.size(); }

 private:
  struct Nothing {};
  PointerMap<Nothing> map_;
};

}  // namespace baton
