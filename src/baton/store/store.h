#pragma once
// The store of measurements: one SQLite file in WAL mode. See docs/design/0036 for its schema.
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "baton/store/measurement.h"
#include "baton/store/store_query.h"

namespace baton {

/// A connection to one file; of one thread at a time.
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
  /// Inserts the rows of another store, in transactions of some thousand. Returns how many were new.
  int64_t merge(const Store& other);
  /// Calls `each` in the order of insertion until it returns false. Throws Error for a row whose bytes are
  /// not those that were stored.
  void each(const StoreQuery& query, const std::function<bool(const Measurement&)>& each) const;
  std::vector<Measurement> select(const StoreQuery& query) const;
  int64_t count(const StoreQuery& query) const;
  /// Rows of the view `rows` (docs/design/0036), without samples: faster than each(), and the faster the
  /// fewer of its columns are wanted. No names: all of them. UsageError for an unknown name.
  StoreTable table(const StoreQuery& query, const std::vector<std::string>& columns = {}) const;
  /// Where the selected rows were measured; more than one entry means that times are not comparable as they
  /// are.
  std::vector<StorePlace> places(const StoreQuery& query) const;
  /// One statement that only reads. Throws UsageError for any other, and for one that SQLite refuses.
  StoreTable sql(const std::string& statement) const;
  /// The newest reliable measurement of this work, build, device (sheet_identity()), threads and cache state.
  std::optional<Measurement> newest(const Work& work, const BuildFacts& build, const DeviceSheet& device,
                                    int threads, CacheState cache) const;
  /// The configurations of a campaign that have at least one row.
  std::vector<std::string> finished(const std::string& campaign) const;
  /// Those of them that have rows of failures only.
  std::vector<std::string> failed(const std::string& campaign) const;
  /// What is damaged, one line each; reads everything. Empty: nothing.
  std::vector<std::string> damage() const;
  const std::string& path() const;

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// $BATON_STORE, else "baton/measurements.db" in the user's cache folder ($XDG_CACHE_HOME, else ~/.cache).
std::string default_store_path();

}  // namespace baton
