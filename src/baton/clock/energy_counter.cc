#include "baton/clock/energy_counter.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "baton/support/base/environment.h"
#include "baton/support/error.h"

namespace baton {

namespace {

std::optional<uint64_t> number_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  uint64_t value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

std::string word_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

/// Whole processors, and memory within them. Cores and graphics are part of a package; `psys`, the whole
/// board, contains packages.
bool counts(const std::string& zone) { return zone.starts_with("package") || zone == "dram"; }

}  // namespace

std::string powercap_folder() {
  const std::string given = environment()->powercap;
  return given.empty() ? "/sys/class/powercap" : given;
}

EnergyCounter::EnergyCounter(const std::string& folder) {
  std::error_code ignored;
  std::vector<std::filesystem::path> found;
  for (const auto& each : std::filesystem::directory_iterator(folder, ignored))
    if (each.path().filename().string().find(':') != std::string::npos &&
        counts(word_in(each.path() / "name")))
      found.push_back(each.path());
  std::sort(found.begin(), found.end());
  for (const std::filesystem::path& path : found) {
    const std::string counter = (path / "energy_uj").string();
    const std::optional<uint64_t> now = number_in(counter), range = number_in(path / "max_energy_range_uj");
    if (!now || !range)
      throw Error("the counter of energy " + counter +
                  " cannot be read: it is root's; run as root, or let it be read (chmod a+r " + counter +
                  ")");
    zones_.push_back({counter, *now, *range});
    names_.push_back(word_in(path / "name"));
  }
  if (zones_.empty())
    throw Error("this machine has no counter of energy: " + folder +
                " has no intel-rapl:N with a name like package-0 (virtual machines hide them; on others, "
                "load the kernel's module intel_rapl_msr)");
}

double EnergyCounter::read_uj() {
  for (Zone& zone : zones_) {
    const std::optional<uint64_t> now = number_in(zone.path);
    if (!now) throw Error("the counter of energy " + zone.path + " cannot be read any more");
    sum_uj_ += static_cast<double>(*now >= zone.last ? *now - zone.last : *now + (zone.range - zone.last));
    zone.last = *now;
  }
  return sum_uj_;
}

}  // namespace baton
