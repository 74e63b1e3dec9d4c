#pragma once
// The loops for measuring peak rates, at the CPU's vector width.
#include <cstdint>

namespace baton {

struct PeakLoops {
  /// `rounds` rounds of independent multiply-adds in registers; returns a result to keep them alive.
  float (*multiply_add)(int64_t rounds);
  int64_t flops_per_round;
  /// Reads `count` floats, a multiple of 256, 64-byte aligned.
  float (*read)(const float* data, int64_t count);
};

PeakLoops peak_loops(int float_lanes);

}  // namespace baton
