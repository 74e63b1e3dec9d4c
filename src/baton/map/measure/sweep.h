#pragma once
// How much a mapping would gain with other links between the devices: by the prices found, without building.
#include <vector>

#include "baton/map/measure/map_model.h"

namespace baton {

struct SweepPoint {
  double factor = 1;  ///< links are so many times as fast, in rate and latency
  double best_us = 0, best_single_us = 0;
  size_t moved = 0;  ///< kernels and regions outside of the processor
  double speedup() const { return best_us > 0 ? best_single_us / best_us : 1; }
};

/// `points` factors from `least` to `most`, evenly by ratio. Throws Error for limits that are not 0 < least
/// <= most.
std::vector<SweepPoint> sweep_links(const MapResult& result, double least, double most, int points,
                                    const std::atomic<bool>* interrupt);

}  // namespace baton
