#pragma once
// What is known of one device: what code and schedules are chosen by, what was measured on it, how fast data
// comes to it from others. Printed, stored and hashed. Plain data: which device is meant is said by whoever
// hands a sheet on; only programs, Python and tests ask for that of the host.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace baton {

/// What a device does at most, measured with a number of threads.
struct DevicePeaks {
  int threads = 1;
  double gflops = 0;              ///< float32 multiply-adds, two operations each
  double gbytes_per_s = 0;        ///< read from memory
  double cache_gbytes_per_s = 0;  ///< read again from the caches of the cores
  double cache_bytes = 0;         ///< what these hold together
  int64_t measured_s = 0;         ///< seconds since 1970
  friend bool operator==(const DevicePeaks&, const DevicePeaks&) = default;
};

/// A way for data to another device.
struct DeviceLink {
  std::string to;  ///< the name of that device
  double gbytes_per_s = 0;
  double latency_us = 0;
  friend bool operator==(const DeviceLink&, const DeviceLink&) = default;
};

struct DeviceSheet {
  std::string kind = "llvm";  ///< the kind of target whose code it runs
  int device_type = 1;        ///< DLPack's number
  std::string name;           ///< "AMD EPYC 9R14"

  // What decides code: code_hash() covers these.
  std::string code_target;    ///< "x86-64-linux-avx512_zen4...": Halide's target without runtime features
  int float_lanes = 4;        ///< float32 per vector register: 16 with AVX-512, 8 with AVX2, else 4
  int vector_registers = 16;  ///< 32 with AVX-512
  int cores = 1;              ///< usable by this process
  int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20, l3_bytes = 16 << 20;
  /// What one core reads from memory while it makes one vector multiply-add: 26 GB/s at 3.7 GHz on a Zen 4.
  double bytes_per_multiply_add = 7;
  /// The part of the shorter of computing and loading that shows when both go on at once.
  double not_overlapped = 0.3;

  int64_t memory_bytes = 0;          ///< 0: not known
  std::optional<DevicePeaks> peaks;  ///< none: not measured
  std::vector<DeviceLink> links;

  /// One fact a line, `name: value`; from_text() reads it back. Bytes and digits are those of the values, so
  /// that equal sheets have equal texts.
  std::string text() const;
  /// Nothing when `text` is none, or says something of which nothing is known here.
  static std::optional<DeviceSheet> from_text(std::string_view text);

  /// Of everything that text() says.
  uint64_t hash() const;
  /// Of what decides code: kernels stay valid when peaks are measured or a link is added.
  uint64_t code_hash() const;

  friend bool operator==(const DeviceSheet&, const DeviceSheet&) = default;

  /// The processor that this process runs on (from cpuid, sysfs and /proc; no Halide needed).
  static const DeviceSheet& host();
};

}  // namespace baton
