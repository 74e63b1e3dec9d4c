#pragma once
// The time that a device sheet alone gives for a kernel: what predictors learn the deviation from.
#include "baton/predict/kernel_case.h"

namespace baton {

struct RooflineTime {
  double compute_us = 0;  ///< operations at the peak of the sheet, of that many threads
  double memory_us = 0;   ///< bytes at the rate of the memory that they are in
  double launch_us = 0;   ///< of a kernel without work
  /// max(compute, memory) + the part of the shorter one that is not hidden + launch; > 0.
  double us = 0;
};

/// Rates that a sheet lacks (peaks are measured by `baton profile`) are estimated from its lanes, at 3 GHz.
/// `model_bytes`: ModelTraffic::working_set of the model that it runs in; 0: its weights are where its other
/// data is.
RooflineTime roofline_time(const KernelDescription& kernel, const DeviceSheet& sheet, int threads,
                           double model_bytes = 0);

/// The rates themselves: billions of operations and bytes per second with `threads` threads.
struct SheetRates {
  double gflops, memory_gbytes, l3_gbytes, cache_gbytes;
  double cache_bytes, l3_bytes;
};
SheetRates sheet_rates(const DeviceSheet& sheet, int threads);

/// Which part of what was used last when `between` bytes ago a cache of that size no longer has.
double part_lost(double between, double cache_bytes);

}  // namespace baton
