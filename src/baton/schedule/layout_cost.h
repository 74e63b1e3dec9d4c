#pragma once
// Whether a convolution is computed in blocks of channels, by expected time. Does not need Halide.
#include <cstdint>

#include "baton/target/device_sheet.h"

namespace baton {

struct ConvShape;  // conv_algorithm.h

/// What stands around a convolution, beside its shape. Where the data do not come in blocks of channels, or
/// the result is not wanted so, a layer in blocks is computed between layout_transforms, and in the other
/// case one in plain layouts.
struct LayerSurroundings {
  int64_t in_height = 0, in_width = 0;
  int64_t pad_top = 0, pad_left = 0;
  bool data_blocked = true, result_blocked = true;
};

/// Whether a convolution that can be computed in blocks of channels is to be, by the expected times; always
/// between layers in blocks.
bool pays_in_blocks(const ConvShape& shape, const LayerSurroundings& around, const DeviceSheet& sheet);

}  // namespace baton
