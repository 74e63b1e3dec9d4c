#include "baton/driver/plan/storage.h"

#include <algorithm>

namespace baton {
namespace {

constexpr int64_t kRange = 16;
constexpr int kForEver = 1 << 30;  // more reads than any plan has

}  // namespace

int StoragePlanner::keep(int64_t bytes) {
  tokens_.push_back({bytes, kForEver});
  return static_cast<int>(tokens_.size()) - 1;
}

int StoragePlanner::request(int64_t bytes, int reads) {
  const auto take = [&](std::multimap<int64_t, int>::iterator at) {
    const int storage = at->second;
    free_.erase(at);
    tokens_[storage] = {std::max(tokens_[storage].bytes, bytes), reads};
    return storage;
  };
  const auto fits = free_.lower_bound(bytes);
  if (fits != free_.end() && fits->first <= bytes * kRange) return take(fits);
  if (fits != free_.begin()) {
    const auto smaller = std::prev(fits);
    if (smaller->first >= bytes / kRange) return take(smaller);
  }
  tokens_.push_back({bytes, reads});
  return static_cast<int>(tokens_.size()) - 1;
}

void StoragePlanner::release_if_unused(int storage) {
  if (tokens_[storage].reads == 0) free_.emplace(tokens_[storage].bytes, storage);
}

void StoragePlanner::read(int storage) {
  --tokens_[storage].reads;
  release_if_unused(storage);
}

void StoragePlanner::written(int storage) { release_if_unused(storage); }

}  // namespace baton
