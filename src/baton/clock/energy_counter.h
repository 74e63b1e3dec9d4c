#pragma once
// The energy that a machine uses, by the counters that Linux shows below /sys/class/powercap (RAPL of Intel
// and AMD): those of whole processors, and of memory where it has its own.
#include <cstdint>
#include <string>
#include <vector>

namespace baton {

/// $BATON_POWERCAP, else /sys/class/powercap.
std::string powercap_folder();

class EnergyCounter {
 public:
  /// Throws Error when the folder has no counters, or when they cannot be read: what was looked for, and what
  /// to do.
  explicit EnergyCounter(const std::string& folder = powercap_folder());

  /// Microjoules since the counter was made, of the whole machine. The counters begin again at 0 after some
  /// minutes of full load: to be called more often than that. Throws Error when one is gone.
  double read_uj();

  /// "package-0", "dram".
  const std::vector<std::string>& zones() const { return names_; }

 private:
  struct Zone {
    std::string path;
    uint64_t last, range;  // it counts from 0 to `range`, in microjoules
  };
  std::vector<Zone> zones_;
  std::vector<std::string> names_;
  double sum_uj_ = 0;
};

}  // namespace baton
