#include "baton/text/map_order.h"

#include <cstdint>
#include <functional>
#include <numeric>

namespace baton::text {

namespace {

constexpr size_t kSmall = 4;
constexpr size_t kFree = SIZE_MAX;

/// Simulates TVM's open hash table: a key is stored at its home slot or, if that is taken, at the first free
/// slot 1, 3, 6, 10, ... after the last key of the same home. A key stored in another key's home slot is
/// moved. One slot is always kept free.
class Table {
 public:
  explicit Table(int bits) : bits_(bits), keys_(size_t{1} << bits, kFree), homes_(keys_.size(), kFree) {}
  bool full(size_t count) const { return count + 1 >= keys_.size(); }

  size_t home(std::string_view key) const {
    return std::hash<std::string_view>()(key) * 11400714819323198485ull >> (64 - bits_);
  }

  bool put(size_t key, size_t home) {
    if (keys_[home] == kFree) return place(key, home, home);
    if (homes_[home] == home) {
      const size_t free = behind(last_of(home));
      return free != kFree && place(key, home, free);
    }
    // The slot holds a key of another home: it and the rest of its chain are moved, in order.
    const size_t owner = homes_[home];
    std::vector<size_t> moved;
    for (size_t at : chain(owner))
      if (at == home || !moved.empty()) moved.push_back(at);
    std::vector<size_t> keys;
    for (size_t at : moved) {
      keys.push_back(keys_[at]);
      keys_[at] = homes_[at] = kFree;
    }
    place(key, home, home);
    for (size_t each : keys)
      if (!put(each, owner)) return false;
    return true;
  }

  std::vector<size_t> walk() const {
    std::vector<size_t> order;
    for (size_t key : keys_)
      if (key != kFree) order.push_back(key);
    return order;
  }

 private:
  bool place(size_t key, size_t home, size_t at) {
    keys_[at] = key;
    homes_[at] = home;
    links_.resize(keys_.size());
    if (at == home)
      links_[home] = {at};
    else
      links_[home].push_back(at);
    return true;
  }
  /// The slots of the keys of one home in insertion order, without removed ones.
  std::vector<size_t> chain(size_t home) const {
    std::vector<size_t> places;
    for (size_t at : links_[home])
      if (homes_[at] == home) places.push_back(at);
    return places;
  }
  size_t last_of(size_t home) const { return chain(home).back(); }
  size_t behind(size_t at) const {
    for (size_t step = 1, jump = 1; step < keys_.size(); ++step, jump += step)
      if (const size_t place = (at + jump) & (keys_.size() - 1); keys_[place] == kFree) return place;
    return kFree;
  }

  int bits_;
  std::vector<size_t> keys_, homes_;        // by slot
  std::vector<std::vector<size_t>> links_;  // by home
};

}  // namespace

std::vector<size_t> map_order(const std::vector<std::string_view>& keys) {
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (keys.size() <= kSmall) return order;
  for (int bits = 3; bits < 20; ++bits) {
    Table table(bits);
    // A table that grew reinserts its keys in the previous iteration order.
    bool fits = true;
    for (size_t i = 0; i < order.size() && fits; ++i)
      fits = !table.full(i) && table.put(order[i], table.home(keys[order[i]]));
    if (fits) return table.walk();
    std::vector<size_t> grown = table.walk();
    std::vector<bool> seen(keys.size(), false);
    for (size_t at : grown) seen[at] = true;
    for (size_t at : order)
      if (!seen[at]) grown.push_back(at);
    order = std::move(grown);
  }
  return order;
}

}  // namespace baton::text
