#pragma once
// Static memory planning: assigns storage to tensors and reuses it.
#include <cstdint>
#include <map>
#include <vector>

#include "baton/runtime/plan.h"

namespace baton {

/// Assigns storage in execution order by the rules of TVM's planner: the smallest free storage of at most 16
/// times the size; else the largest of at least 1/16 of it, which is grown; else new storage. Each device has
/// its own pool.
class StoragePlanner {
 public:
  /// Permanent storage, for inputs and constants.
  int keep(int64_t bytes);
  /// Storage for a tensor on that device with `reads` reads.
  int request(int64_t bytes, int reads, int device_type);
  /// Aliases another tensor's storage, with `reads` more reads.
  void share(int storage, int reads) { tokens_[storage].reads += reads; }
  /// Records one read.
  void read(int storage);
  /// Marks the tensor as defined; frees it at once if it is never read.
  void written(int storage);

 private:
  struct Token {
    int64_t bytes;
    int reads;
    int device_type;
  };
  void release_if_unused(int storage);

  std::vector<Token> tokens_;
  std::map<int, std::multimap<int64_t, int>> free_;  // by device
};

/// Assigns storage to every tensor of `plan`.
void plan_storages(Plan& plan);

}  // namespace baton
