#pragma once
// What a device does at most, measured: the roofs of the roofline.
#include <optional>
#include <string>

#include "baton/codegen/kernel/kernel_cache.h"
#include "baton/profile/report/rows.h"
#include "baton/target/device_sheet.h"

namespace baton {

/// Measures the processor that this runs on, whose sheet is given, with `threads` threads; 0.1 s.
DevicePeaks measure_peaks(const DeviceSheet& sheet, int threads);

/// The sheet with peaks, which are kept in `cache` for a day for this sheet, machine and number of threads.
/// What is measured while others are busy is not kept.
DeviceSheet measured_sheet(const DeviceSheet& sheet, int threads, KernelCache& cache);

/// What is kept, read back; nothing for what is damaged, has no peaks, or is older than a day at `now`
/// (seconds since 1970).
std::optional<DeviceSheet> kept_sheet(const std::string& text, int64_t now);

/// Fills in what of the roofs each kernel reaches. `sheet`: measured.
void add_peaks(ProfileReport& report, const DeviceSheet& sheet);

}  // namespace baton
