#pragma once
// Attributes shared by convolutions. Names, order and defaults are Relay's.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/ir/attrs.h"
#include "baton/ops/op_spec.h"

namespace baton {

/// The attributes of all convolutions over `kAxes` spatial axes.
template <int kAxes>
struct ConvAttrs {
  std::vector<int64_t> strides = std::vector<int64_t>(kAxes, 1);
  /// As written: p, or one value per axis, or all befores and then all afters; of one axis always both.
  std::vector<int64_t> padding = std::vector<int64_t>(kAxes == 1 ? 2 : kAxes, 0);
  std::vector<int64_t> dilation = std::vector<int64_t>(kAxes, 1);
  int64_t groups = 1;
  std::optional<int64_t> channels = {};                  ///< None: read from the weight
  std::optional<std::vector<int64_t>> kernel_size = {};  ///< None: read from the weight
  std::string data_layout = kAxes == 1 ? "NCW" : kAxes == 2 ? "NCHW" : "NCDHW";
  std::string kernel_layout = kAxes == 1 ? "OIW" : kAxes == 2 ? "OIHW" : "OIDHW";
  std::string out_layout = {};  ///< empty: as data_layout
  DType out_dtype = {};         ///< void: as the data
};
using Conv1DAttrs = ConvAttrs<1>;
using Conv2DAttrs = ConvAttrs<2>;
using Conv3DAttrs = ConvAttrs<3>;

template <>
const AttrSchema& attr_schema<Conv2DAttrs>();

/// The fields of ConvAttrs<2>, in Relay's order, for it and for what inherits from it.
template <class A>
std::vector<AttrSpec<A>> conv2d_fields() {
  return {
      {"strides", inherited<A>(&A::strides), "step along height and width"},
      {"padding", inherited<A>(&A::padding),
       "zeros around the data: p, or [h, w], or [top, left, bottom, right]"},
      {"dilation", inherited<A>(&A::dilation), "distance of the kernel's taps along height and width"},
      {"groups", inherited<A>(&A::groups), "channels are split into that many independent convolutions"},
      {"channels", inherited<A>(&A::channels), "number of output channels; None: read from the weight"},
      {"kernel_size", inherited<A>(&A::kernel_size),
       "height and width of the kernel; None: read from the weight"},
      {"data_layout", inherited<A>(&A::data_layout), "layout of the data, e.g. NCHW, NHWC, NCHW16c"},
      {"kernel_layout", inherited<A>(&A::kernel_layout), "layout of the weight, e.g. OIHW, HWIO, OIHW16i16o"},
      {"out_layout", inherited<A>(&A::out_layout), "layout of the result; empty: as the data"},
      {"out_dtype", inherited<A>(&A::out_dtype), "element type of the result; void: as the data"}};
}

/// Padding of two spatial axes, read from 1, 2 or 4 values: p | h, w | top, left, bottom, right.
struct Padding2D {
  int64_t top = 0, left = 0, bottom = 0, right = 0;
  int64_t height() const { return top + bottom; }
  int64_t width() const { return left + right; }
};

/// Nullopt unless there are 1, 2 or 4 values.
std::optional<Padding2D> padding_2d(const std::vector<int64_t>& padding);

/// Error when the channels of the data or of the result cannot be split into that many groups. Types do not
/// ask for it, as in Relay; kernels do: the last group would lie beyond the data.
void check_groups(int64_t groups, int64_t in_channels, int64_t out_channels);
/// NotSupported when the blocks of the result's layout have more channels than the weight.
void check_filled_blocks(int64_t out_channels, int64_t weight_channels);

}  // namespace baton
