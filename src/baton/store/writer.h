#pragma once
// Inserts measurements: each part that measurements share is stored once.
#include <unordered_map>

#include "baton/store/database.h"
#include "baton/store/measurement.h"

namespace baton {

class StoreWriter {
 public:
  explicit StoreWriter(Database& database);
  /// False: it is there already. Throws Error as check_measurement(), and for attributes that are not a JSON
  /// object. Inside a transaction.
  bool insert(const Measurement& measurement);
  /// After a transaction that was rolled back: rows that were met are gone.
  void forget();

 private:
  int64_t work_row(const Work& work, const Digest& digest);
  int64_t build_row(const BuildFacts& build, const Digest& digest);
  int64_t device_row(const DeviceSheet& sheet, const Digest& digest);
  int64_t model_row(const Measurement& measurement);
  int64_t named_row(std::unordered_map<std::string, int64_t>& known, Statement& find, Statement& add,
                    const std::string& name);
  std::optional<int64_t> origin_row(const Measurement& measurement);
  const Digest& digest_of(const DeviceSheet& sheet);

  using Rows = std::unordered_map<Digest, int64_t>;
  /// The row with this hash, or nullopt.
  std::optional<int64_t> known_row(Rows& rows, Statement& find, const Digest& digest);

  Database& database_;
  Rows works_, builds_, devices_, origins_;
  std::unordered_map<std::string, int64_t> machines_, campaigns_, models_;
  DeviceSheet last_sheet_;
  Digest last_digest_;
  Statement find_work_, add_work_, add_operator_, add_attributes_;
  Statement find_build_, add_build_, find_device_, add_device_;
  Statement find_machine_, add_machine_, find_campaign_, add_campaign_, find_model_, add_model_;
  Statement find_origins_, add_origins_, add_origin_;
  Statement add_, add_samples_;
};

}  // namespace baton
