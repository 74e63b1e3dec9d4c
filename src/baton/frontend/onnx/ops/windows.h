#pragma once
// Windows that move over spatial axes: what convolutions and pools have in common.
#include <string>
#include <vector>

#include "baton/frontend/onnx/conversion.h"

namespace baton::onnx {

/// In the order of the spatial axes; `before` and `after`: elements of padding.
struct Window {
  std::vector<int64_t> kernel, strides, dilations, before, after;
  size_t axes() const { return kernel.size(); }
  /// Both ends, as Relay's layers take them.
  std::vector<int64_t> padding() const;
};

/// By the attributes kernel_shape, strides, dilations, pads and auto_pad. `kernel`: where the attribute may
/// be missing. SAME_UPPER and SAME_LOWER need known extents.
Window window_of(const Conversion& c, std::vector<int64_t> kernel = {});
/// The same without regard to the input's rank, and without auto_pad.
Window window_of_axes(const Conversion& c, std::vector<int64_t> kernel);
/// How many windows of input 0, whose extents are known, there are along each axis; with `ceil_mode` also
/// those that reach beyond the padding, but none that begins there.
std::vector<int64_t> window_counts(const Conversion& c, const Window& window);

/// Whether padding or the number of windows follows from extents that are only known at run time.
bool windows_wait(const Conversion& c);

/// How many spatial axes; throws NotSupported for others than 1 to 3.
size_t checked_axes(const Conversion& c, size_t axes);

/// "NCHW": the letters of a layout with so many spatial axes.
std::string layout_of(const char* channels, size_t axes);
/// "nn.conv" + "2d"
std::string by_axes(const char* name, size_t axes, const char* behind = "");

}  // namespace baton::onnx
