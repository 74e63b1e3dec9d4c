#pragma once
// LayoutConfig(skip_layers): under a context that has it, ConvertLayout leaves some of the nn.conv2d that it
// meets as they are.
#include <algorithm>
#include <cstdint>
#include <vector>

namespace baton {

/// Convolutions by number, counted from 0 as they are met. One object counts over all passes that it is
/// handed to; it is not to be used by two threads at a time.
struct SkippedLayers {
  std::vector<int64_t> numbers;
  int64_t met = 0;

  /// Counts one convolution; whether it is to be skipped.
  bool next() { return std::ranges::find(numbers, met++) != numbers.end(); }
};

}  // namespace baton
