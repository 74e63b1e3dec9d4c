#pragma once
// Puts measurements together again.
#include <unordered_map>

#include "baton/store/database.h"
#include "baton/store/measurement.h"

namespace baton {

class StoreReader {
 public:
  explicit StoreReader(Database& database);
  /// "SELECT ... FROM measurement m ...": a condition on m may follow.
  static const std::string& select();
  /// The row that a statement of select() is at. Throws Error when it is not what was stored.
  Measurement read(const Statement& row);

 private:
  struct KeyedWork {
    Work work;
    Digest digest;
  };
  struct KeyedBuild {
    BuildFacts build;
    Digest digest;
  };
  struct KeyedDevice {
    DeviceSheet sheet;
    Digest digest;
  };
  struct Origins {
    std::vector<WorkOrigin> origins, made_for;
  };
  const KeyedWork& work(int64_t id);
  const KeyedBuild& build(int64_t id);
  const KeyedDevice& device(int64_t id);
  const Origins& origins(int64_t id);
  [[noreturn]] void damaged(const std::string& what) const;

  Database& database_;
  std::unordered_map<int64_t, KeyedWork> works_;
  std::unordered_map<int64_t, KeyedBuild> builds_;
  std::unordered_map<int64_t, KeyedDevice> devices_;
  std::unordered_map<int64_t, Origins> origins_;
  Statement find_work_, find_operators_, find_build_, find_device_, find_origins_;
};

}  // namespace baton
