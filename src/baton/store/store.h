#pragma once
// The store of measurements: one SQLite file in WAL mode. See docs/design/0036 for its schema.
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "baton/store/measurement.h"

namespace baton {

/// Which measurements; empty or nullopt members do not select.
struct StoreQuery {
  std::optional<WorkKind> kind;
  std::string backend, target, machine, device, family, model, model_id, campaign, work_id, configuration;
  std::optional<int> threads;
  std::optional<CacheState> cache;
  std::vector<std::string> operators;  ///< the work contains all of these
  bool reliable_only = false;
  int64_t limit = 0;  ///< 0: all
};

class Store {
 public:
  enum class Mode { kRead, kWrite };

  /// Opens the file; kWrite creates it where there is none and migrates an older schema. Throws Error with
  /// what to do for a newer schema, a damaged file, a full disk, no permission, and a lock held too long.
  static Store open(const std::string& path, Mode mode);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  /// All or nothing, in one transaction. Returns how many were new. Processes may insert at the same time.
  int64_t insert(std::span<const Measurement> measurements);
  /// Calls `each` in the order of insertion until it returns false.
  void each(const StoreQuery& query, const std::function<bool(const Measurement&)>& each) const;
  std::vector<Measurement> select(const StoreQuery& query) const;
  int64_t count(const StoreQuery& query) const;
  /// The newest reliable measurement of this work, build, device sheet, threads and cache state.
  std::optional<Measurement> newest(const Work& work, const BuildFacts& build, const DeviceSheet& device,
                                    int threads, CacheState cache) const;
  /// The configurations of a campaign that have at least one row.
  std::vector<std::string> finished(const std::string& campaign) const;
  const std::string& path() const;

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace baton
