#pragma once
// What this machine can do at most, measured: the roofs of the roofline.
#include "baton/codegen/kernel/kernel_cache.h"
#include "baton/profile/report/rows.h"

namespace baton {

/// Measures with `threads` threads; 0.1 s.
MachinePeaks measure_peaks(int threads);

/// The same, kept in `cache` for a day for this processor, machine and number of threads. What is measured
/// while others are busy is not kept.
MachinePeaks machine_peaks(int threads, KernelCache& cache);

/// As text for the cache, and back; nothing for what is damaged or older than a day at `now` (seconds since
/// 1970).
std::string peaks_entry(const MachinePeaks& peaks, int64_t now);
std::optional<MachinePeaks> peaks_of_entry(const std::string& entry, int64_t now);

/// Fills in what of the roofs each kernel reaches.
void add_peaks(ProfileReport& report, const MachinePeaks& peaks);

}  // namespace baton
