#pragma once
// How much a mapping would gain on other machines: faster links, more or faster devices, more memory. By the
// prices found, without building.
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "baton/map/model/alternatives.h"
#include "baton/map/model/map_model.h"

namespace baton {

enum class SweepOf {
  kLink,     ///< the speed of links, in rate and latency
  kDevices,  ///< how many there are of each device other than the processor
  kMemory,   ///< the limits of the devices' memories
  kCompute,  ///< the speed of devices other than the processor
};

/// "link", "devices", "memory", "compute".
std::string sweep_name(SweepOf of);

struct SweepRange {
  SweepOf of = SweepOf::kLink;
  double least = 1, most = 1;  ///< factors; of devices: whole numbers
};

/// "link=0.1:100". Throws UsageError for an unknown name, and for limits that are not 0 < least <= most or,
/// of devices, no whole numbers from 1 to 16.
SweepRange parse_sweep(const std::string& text);
/// Throws UsageError for two sweeps of one thing, and for what no target of the mapping has: a device beside
/// the processor, a limit of memory.
void check_sweeps(const std::vector<SweepRange>& sweeps, const MapOptions& options);

struct SweepPoint {
  double factor = 1;
  double best_us = 0, best_single_us = 0;
  std::string best_single = {};  ///< its backend
  size_t moved = 0;              ///< kernels and regions outside of the processor
  std::vector<int> backend_of =
      {};  ///< of the best mapping, by operator: index into MapReport::backends, or -1
  std::vector<double> backend_us = {};  ///< of its kernels, by backend
  Transfers transfers = {};             ///< between its devices
  double speedup() const { return best_us > 0 ? best_single_us / best_us : 1; }
};

struct MapSweep {
  SweepOf of = SweepOf::kLink;
  double base_us = 0;  ///< of the best single backend on the machine as it is
  std::vector<SweepPoint> points = {};
  std::string note = {};     ///< what the numbers do not say; may be empty
  std::string partial = {};  ///< "interrupted": later points are missing; else empty
};

struct SweepOptions {
  int points = 13;     ///< evenly by ratio; of devices: each number
  double seconds = 1;  ///< of the search for queues side by side, for each point
  const std::atomic<bool>* interrupt = nullptr;
  std::function<void(int done, int total)> progress = {};
};

/// The best mapping and the best single backend at each point. Mappings found at one point are tried at the
/// others, so that no curve has a dent where a search found less. Throws Error when no mapping keeps the
/// limits of memory at any point.
MapSweep sweep(const MapResult& result, const SweepRange& range, const SweepOptions& options);

}  // namespace baton
