#include "baton/driver/plan/storage.h"

#include <algorithm>

namespace baton {
namespace {

constexpr int64_t kRange = 16;
constexpr int kForEver = 1 << 30;  // more reads than any plan has

}  // namespace

int StoragePlanner::keep(int64_t bytes) {
  tokens_.push_back({bytes, kForEver, 0});
  return static_cast<int>(tokens_.size()) - 1;
}

int StoragePlanner::request(int64_t bytes, int reads, int device_type) {
  std::multimap<int64_t, int>& free = free_[device_type];
  const auto take = [&](std::multimap<int64_t, int>::iterator at) {
    const int storage = at->second;
    free.erase(at);
    tokens_[storage] = {std::max(tokens_[storage].bytes, bytes), reads, device_type};
    return storage;
  };
  const auto fits = free.lower_bound(bytes);
  if (fits != free.end() && fits->first <= bytes * kRange) return take(fits);
  if (fits != free.begin()) {
    const auto smaller = std::prev(fits);
    if (smaller->first >= bytes / kRange) return take(smaller);
  }
  tokens_.push_back({bytes, reads, device_type});
  return static_cast<int>(tokens_.size()) - 1;
}

void StoragePlanner::release_if_unused(int storage) {
  const Token& token = tokens_[storage];
  if (token.reads == 0) free_[token.device_type].emplace(token.bytes, storage);
}

void StoragePlanner::read(int storage) {
  --tokens_[storage].reads;
  release_if_unused(storage);
}

void StoragePlanner::written(int storage) { release_if_unused(storage); }

void plan_storages(Plan& plan) {
  std::vector<int> reads(plan.entries.size());
  for (const PlanNode& node : plan.nodes)
    for (const EntryId input : node.inputs) ++reads[input];
  for (const EntryId head : plan.heads) ++reads[head];  // outputs are never released
  StoragePlanner storages;
  for (const PlanNode& node : plan.nodes) {
    for (EntryId id = node.first_entry; id < node.first_entry + node.num_outputs; ++id) {
      PlanEntry& entry = plan.entries[id];
      const auto bytes = static_cast<int64_t>(entry.bytes());
      if (node.kind == PlanNode::Kind::kInput) {
        entry.storage = storages.keep(bytes);
      } else if (node.kind == PlanNode::Kind::kNop) {
        entry.storage = plan.entries[node.inputs[0]].storage;
        storages.share(entry.storage, reads[id]);
      } else {
        entry.storage = storages.request(bytes, reads[id], entry.device_type);
      }
    }
    if (node.kind == PlanNode::Kind::kInput) continue;
    for (uint32_t i = 0; i < node.num_outputs; ++i)
      storages.written(plan.entries[node.first_entry + i].storage);
    for (const EntryId input : node.inputs) storages.read(plan.entries[input].storage);
  }
}

}  // namespace baton
