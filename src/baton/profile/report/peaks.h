#pragma once
// Measures a device's peak rates, for the roofline model.
#include <optional>
#include <string>

#include "baton/clock/disturbance.h"
#include "baton/codegen/kernel/kernel_cache.h"
#include "baton/profile/report/rows.h"
#include "baton/target/device_sheet.h"

namespace baton {

/// Measures this machine's CPU, described by `sheet`, with `threads` threads; takes 0.1 s.
DevicePeaks measure_peaks(const DeviceSheet& sheet, int threads);

/// The sheet with peaks, cached in `cache` for a day per sheet, machine and number of threads. Nullopt, with
/// the reason in `why`, when the machine was busy with other work in every one of several attempts.
std::optional<DeviceSheet> measured_sheet(const DeviceSheet& sheet, int threads, KernelCache& cache,
                                          std::string& why, const SystemSource& system = read_system);

/// The same for whoever needs rates in any case: attempts go on until nothing disturbs one, for `seconds` at
/// most. Where all were disturbed, each rate is the greatest of all attempts (others only ever make them
/// less), `busy` says by what, and nothing is kept.
struct RatedSheet {
  DeviceSheet sheet;
  std::string busy;
};
RatedSheet rated_sheet(const DeviceSheet& sheet, int threads, KernelCache& cache, double seconds,
                       const SystemSource& system = read_system);

/// Parses a cached sheet; nullopt when it is damaged, has no peaks, or is older than a day at `now` (seconds
/// since 1970).
std::optional<DeviceSheet> kept_sheet(const std::string& text, int64_t now);

/// Whether the processor computes the kernel, from and to its own memory: the peaks are not those of GPUs
/// and of links.
bool on_processor(const KernelRow& row);

/// Fills in the fraction of the peaks of each kernel on the processor. `sheet`: measured.
void add_peaks(ProfileReport& report, const DeviceSheet& sheet);

}  // namespace baton
