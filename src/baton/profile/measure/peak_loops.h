#pragma once
// The loops that peaks are measured with, for vectors as wide as this processor has.
#include <cstdint>

namespace baton {

struct PeakLoops {
  /// `rounds` rounds of independent multiply-adds in registers; the result keeps them alive.
  float (*multiply_add)(int64_t rounds);
  int64_t flops_per_round;
  /// Reads `count` floats, a multiple of 256, aligned to 64 bytes.
  float (*read)(const float* data, int64_t count);
};

PeakLoops peak_loops(int float_lanes);

}  // namespace baton
