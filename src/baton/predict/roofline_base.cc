#include "baton/predict/roofline_base.h"

#include <algorithm>
#include <cmath>

namespace baton {

namespace {

constexpr double kGHz = 3;           // of a sheet without measured peaks
constexpr double kUnits = 2;         // multiply-add units per core, of the same
constexpr double kCacheOverRam = 6;  // rate of a core's caches over that of memory, of the same
constexpr double kL3OverRam = 2;
constexpr double kLaunchUs = 0.3;      // a call of a kernel from the executor
constexpr double kThreadUs = 1.5;      // to wake and join the other threads
constexpr double kDeviceLaunchUs = 8;  // of a queue of another device
// A cache loses what was used last by degrees: half of it after so many times its bytes (64 MB of weights
// come from memory altogether where a program has 16 MB of the third level, 24 MB for a fifth).
constexpr double kHalfLost = 2, kSteepness = 3;

}  // namespace

SheetRates sheet_rates(const DeviceSheet& sheet, int threads) {
  const double used = std::clamp(threads, 1, std::max(1, sheet.cores));
  SheetRates rates{};
  if (sheet.peaks && sheet.peaks->gflops > 0) {
    const DevicePeaks& peaks = *sheet.peaks;
    const double scale = used / std::max(1, peaks.threads);
    rates.gflops = peaks.gflops * scale;
    rates.cache_gbytes = peaks.cache_gbytes_per_s * scale;
    rates.l3_gbytes = peaks.l3_gbytes_per_s * scale;
    // Memory is shared: a few threads take most of its rate.
    rates.memory_gbytes = peaks.gbytes_per_s * std::min(1.0, 0.5 + 0.5 * scale);
    rates.cache_bytes = peaks.cache_bytes * scale;
    rates.l3_bytes = peaks.l3_program_bytes;
  } else {
    rates.gflops = 2 * kUnits * kGHz * sheet.float_lanes * used;
    rates.memory_gbytes = sheet.bytes_per_multiply_add * kGHz;
    rates.cache_gbytes = rates.memory_gbytes * kCacheOverRam * used;
    rates.l3_gbytes = rates.memory_gbytes * kL3OverRam * used;
  }
  if (rates.cache_bytes <= 0) rates.cache_bytes = static_cast<double>(sheet.l2_bytes) * used;
  if (rates.l3_bytes <= 0) rates.l3_bytes = static_cast<double>(sheet.l3_bytes) / 2;
  rates.memory_gbytes = std::max(rates.memory_gbytes, 1e-3);
  if (rates.l3_gbytes <= 0) rates.l3_gbytes = rates.memory_gbytes;
  if (rates.cache_gbytes <= 0) rates.cache_gbytes = rates.l3_gbytes;
  rates.gflops = std::max(rates.gflops, 1e-3);
  return rates;
}

double part_lost(double between, double cache_bytes) {
  return between > 0 ? 1 / (1 + std::pow(kHalfLost * cache_bytes / between, kSteepness)) : 0;
}

namespace {

/// Nanoseconds per byte of data that was used last when `between` bytes ago.
double ns_per_byte_after(const SheetRates& rates, double between) {
  const double from_l3 = part_lost(between, rates.cache_bytes), from_ram = part_lost(between, rates.l3_bytes);
  return (1 - from_l3) / rates.cache_gbytes +
         from_l3 * ((1 - from_ram) / rates.l3_gbytes + from_ram / rates.memory_gbytes);
}

}  // namespace

RooflineTime roofline_time(const KernelDescription& kernel, const DeviceSheet& sheet, int threads,
                           double model_bytes) {
  const SheetRates rates = sheet_rates(sheet, threads);
  // Activations were written just before; weights were read last when the model ran last.
  const double weights = model_bytes > 0 ? std::min(kernel.weight_bytes(), kernel.bytes) : 0;
  RooflineTime time;
  time.compute_us = kernel.flops / rates.gflops / 1e3;
  time.memory_us = (kernel.bytes - weights) * ns_per_byte_after(rates, kernel.bytes) / 1e3 +
                   weights * ns_per_byte_after(rates, std::max(kernel.bytes, model_bytes)) / 1e3;
  time.launch_us = sheet.device_type == 1 ? kLaunchUs + (threads > 1 ? kThreadUs : 0) : kDeviceLaunchUs;
  time.us = std::max(time.compute_us, time.memory_us) +
            sheet.not_overlapped * std::min(time.compute_us, time.memory_us) + time.launch_us;
  return time;
}

}  // namespace baton
