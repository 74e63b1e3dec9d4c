#pragma once
// Facts about one device: those that determine code and schedules, measured peaks, and links to other
// devices. Printed, stored and hashed. Plain data: callers pass a sheet explicitly; only programs, Python and
// tests query the host's.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace baton {

/// Measured peak rates of a device, with a number of threads.
struct DevicePeaks {
  int threads = 1;
  double gflops = 0;              ///< float32 multiply-adds, two operations each
  double gbytes_per_s = 0;        ///< from memory
  double cache_gbytes_per_s = 0;  ///< repeated reads from the cores' caches
  double cache_bytes = 0;         ///< total capacity of these caches
  double l3_gbytes_per_s = 0;     ///< repeated reads from the cache that cores share; 0: there is none
  double l3_program_bytes = 0;    ///< what a program may need and stay in it: half of it, others use it too
  int64_t measured_s = 0;         ///< seconds since 1970
  friend bool operator==(const DevicePeaks&, const DevicePeaks&) = default;
};

/// A data link to another device.
struct DeviceLink {
  std::string to;  ///< the name of that device
  double gbytes_per_s = 0;
  double latency_us = 0;
  friend bool operator==(const DeviceLink&, const DeviceLink&) = default;
};

struct DeviceSheet {
  std::string kind = "llvm";  ///< the kind of target it runs
  int device_type = 1;        ///< DLPack's number
  std::string name;           ///< "AMD EPYC 9R14"
  /// Which processor it is, as machines of one name differ: "AuthenticAMD family 25 model 17 stepping 1,
  /// under KVMKVMKVM". Empty: not known, as in sheets of before 2026-11-27 and of devices that are no
  /// processors.
  std::string processor;

  // Facts that determine code; covered by code_hash().
  std::string code_target;    ///< "x86-64-linux-avx512_zen4...": Halide's target without runtime features
  int float_lanes = 4;        ///< float32 per vector register: 16 with AVX-512, 8 with AVX2, else 4
  int vector_registers = 16;  ///< 32 with AVX-512
  /// Vectors of half a register reach the multiply-add peak too: a Zen 4 computes 16 lanes in two halves.
  bool halves_at_full_rate = false;
  int cores = 1;  ///< usable by this process
  int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20, l3_bytes = 16 << 20;
  /// Bytes that one core reads from memory in the time of one vector multiply-add: 26 GB/s at 3.7 GHz on a
  /// Zen 4.
  double bytes_per_multiply_add = 7;
  /// The fraction of the shorter of compute and load time that is not hidden by overlapping them.
  double not_overlapped = 0.3;

  int64_t memory_bytes = 0;          ///< 0: unknown
  std::optional<DevicePeaks> peaks;  ///< none: not measured
  std::vector<DeviceLink> links;

  /// One fact per line, `name: value`; parsed by from_text(). Numbers round-trip, so equal sheets have equal
  /// texts.
  std::string text() const;
  /// Nullopt when `text` is malformed or contains unknown facts.
  static std::optional<DeviceSheet> from_text(std::string_view text);

  /// A hash of everything in text().
  uint64_t hash() const;
  /// A hash of the facts that determine code: measuring peaks or adding a link does not invalidate kernels.
  uint64_t code_hash() const;

  friend bool operator==(const DeviceSheet&, const DeviceSheet&) = default;

  /// The CPU that this process runs on (from cpuid, sysfs and /proc; does not need Halide).
  static const DeviceSheet& host();
};

}  // namespace baton
