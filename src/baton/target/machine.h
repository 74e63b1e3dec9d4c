#pragma once
// What schedules need to know of the machine that kernels run on. Printed, hashed into kernel cache keys.
#include <cstdint>
#include <string>

namespace baton {

struct Machine {
  std::string cpu;      ///< "x86-64-linux-avx512_zen4...": Halide's target string without runtime features
  int float_lanes = 4;  ///< float32 per vector register: 16 with AVX-512, 8 with AVX2, else 4
  int vector_registers = 16;  ///< 32 with AVX-512
  int cores = 1;              ///< usable by this process
  int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20, l3_bytes = 16 << 20;

  /// The machine this process runs on (from cpuid and sysfs; no Halide needed).
  static const Machine& host();
};

}  // namespace baton
