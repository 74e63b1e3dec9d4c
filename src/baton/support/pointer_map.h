#pragma once
// A hash map keyed by addresses, for walks over large graphs: open addressing over a dense array, several times as
// fast as std::unordered_map. Entries keep the order of insertion, so iterating is deterministic. No erasing.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace baton {

/// `kBlockBits`: how many low bits of an address keep their order. With 0 addresses are spread evenly, wherever they lie.
/// Else blocks of memory are spread, and what lies in one block stays together: graphs are mostly walked in the order they
/// were made in, and neighbours then share a cache line here too. For large objects only: small ones lie too close.
template <class V, int kBlockBits = 0>
class PointerMap {
 public:
  struct Entry {
    const void* key;
    V value;
  };

  /// The value at `key`, or null. Valid until the next insertion.
  V* find(const void* key) {
    if (slots_.empty()) return nullptr;
    for (size_t at = start(key);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == kFree) return nullptr;
      if (entries_[slots_[at]].key == key) return &entries_[slots_[at]].value;
    }
  }
  const V* find(const void* key) const { return const_cast<PointerMap*>(this)->find(key); }
  bool contains(const void* key) const { return find(key) != nullptr; }

  /// Adds `value` unless the key is there already; second: whether it was added.
  std::pair<V*, bool> insert(const void* key, V value) {
    if (entries_.size() * 2 >= slots_.size()) grow();
    size_t at = start(key);
    for (; slots_[at] != kFree; at = (at + 1) & (slots_.size() - 1))
      if (entries_[slots_[at]].key == key) return {&entries_[slots_[at]].value, false};
    slots_[at] = static_cast<uint32_t>(entries_.size());
    entries_.push_back({key, std::move(value)});
    return {&entries_.back().value, true};
  }
  /// The value of entry `index`, in the order of insertion.
  V& value(size_t index) { return entries_[index].value; }
  /// The value at `key`, made by default when it is not there.
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
  static constexpr int kGrainBits = 5;  // so many bytes of a block have one slot

  size_t start(const void* key) const {
    const auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(key));
    // The low bits of an address are zero and its high bits constant: a multiplication spreads what is between.
    const uint64_t block = (address >> kBlockBits) * 0x9E3779B97F4A7C15ull >> 20;
    if constexpr (kBlockBits == 0) {
      return static_cast<size_t>(block) & (slots_.size() - 1);
    } else {
      const uint64_t inside = (address & ((uint64_t{1} << kBlockBits) - 1)) >> kGrainBits;
      return static_cast<size_t>((block << (kBlockBits - kGrainBits)) + inside) & (slots_.size() - 1);
    }
  }
  void grow() {
    slots_.assign(slots_.empty() ? 16 : slots_.size() * 2, kFree);
    for (size_t i = 0; i < entries_.size(); ++i) {
      size_t at = start(entries_[i].key);
      while (slots_[at] != kFree) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = static_cast<uint32_t>(i);
    }
  }

  std::vector<uint32_t> slots_;
  std::vector<Entry> entries_;
};

/// A set of addresses: insert() is true when the address is new.
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
