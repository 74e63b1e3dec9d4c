#pragma once
// Attributes of the 2-D convolutions. Names, order and defaults are Relay's.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/ir/attrs.h"

namespace baton {

struct Conv2DAttrs {
  std::vector<int64_t> strides{1, 1};
  std::vector<int64_t> padding{0, 0};  ///< as written: 1, 2 or 4 values; see Padding2D
  std::vector<int64_t> dilation{1, 1};
  int64_t groups = 1;
  std::optional<int64_t> channels = {};
  std::optional<std::vector<int64_t>> kernel_size = {};
  std::string data_layout = "NCHW";
  std::string kernel_layout = "OIHW";
  std::string out_layout = {};  ///< empty: as data_layout
  DType out_dtype = {};         ///< void: as the data
};

/// nn.contrib_conv2d_winograd_without_weight_transform: the weight is transformed already.
struct Conv2DWinogradAttrs {
  int64_t tile_size = 0;
  std::vector<int64_t> strides{1, 1};
  std::vector<int64_t> padding{0, 0};
  std::vector<int64_t> dilation{1, 1};
  int64_t groups = 1;
  std::optional<int64_t> channels = {};
  std::optional<std::vector<int64_t>> kernel_size = {};
  std::string data_layout = "NCHW";
  std::string kernel_layout = "OIHW";
  std::string out_layout = {};
  DType out_dtype = {};
};

struct ConvWinogradWeightTransformAttrs {
  int64_t tile_size = 0;  ///< rows of output a tile makes; the transformed tile has tile_size + kernel - 1
};

template <>
const AttrSchema& attr_schema<Conv2DAttrs>();
template <>
const AttrSchema& attr_schema<Conv2DWinogradAttrs>();
template <>
const AttrSchema& attr_schema<ConvWinogradWeightTransformAttrs>();

/// Padding of two spatial axes, read from 1, 2 or 4 values: p | h, w | top, left, bottom, right.
struct Padding2D {
  int64_t top = 0, left = 0, bottom = 0, right = 0;
  int64_t height() const { return top + bottom; }
  int64_t width() const { return left + right; }
};
/// Nothing when there are not 1, 2 or 4 values.
std::optional<Padding2D> padding_2d(const std::vector<int64_t>& padding);

}  // namespace baton
