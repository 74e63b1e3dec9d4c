#pragma once
// The static memory plan: which tensors share a piece of memory, one after another.
#include <cstdint>
#include <map>
#include <vector>

#include "baton/runtime/plan.h"

namespace baton {

/// Gives storage to tensors in the order of execution, by the rules of TVM's planner: what is free and at
/// most 16 times as large is taken, the smallest first; else the largest that is at least a 16th, which then
/// grows; else fresh. Every device has a pool of its own.
class StoragePlanner {
 public:
  /// Storage of its own for ever: inputs and constants.
  int keep(int64_t bytes);
  /// Storage for a tensor on that device that is read `reads` times.
  int request(int64_t bytes, int reads, int device_type);
  /// A tensor in the storage of another, read `reads` times itself.
  void share(int storage, int reads) { tokens_[storage].reads += reads; }
  /// One of the reads has happened.
  void read(int storage);
  /// The tensor exists now; it is free at once when nobody reads it.
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

/// Gives every tensor of `plan` its storage.
void plan_storages(Plan& plan);

}  // namespace baton
