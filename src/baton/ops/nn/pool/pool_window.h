#pragma once
// Shared by pools: attributes, and the sliding window.
#include <string>
#include <vector>

#include "baton/ops/compute_util.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

/// The attributes of a pool over windows of `kAxes` spatial axes: nn.max_pool*.
template <int kAxes>
struct PoolAttrs {
  std::vector<int64_t> pool_size = {};
  std::vector<int64_t> strides = std::vector<int64_t>(kAxes, 1);
  std::vector<int64_t> dilation = std::vector<int64_t>(kAxes, 1);
  std::vector<int64_t> padding =
      std::vector<int64_t>(kAxes, 0);  ///< one value, one per axis, or two per axis
  std::string layout = kAxes == 1 ? "NCW" : kAxes == 2 ? "NCHW" : "NCDHW";
  std::string out_layout = {};
  bool ceil_mode = false;
};
/// nn.avg_pool*.
template <int kAxes>
struct AvgPoolAttrs : PoolAttrs<kAxes> {
  bool count_include_pad = false;  ///< false: the mean is over the cells inside the data
};
using MaxPool1DAttrs = PoolAttrs<1>;
using MaxPool2DAttrs = PoolAttrs<2>;
using MaxPool3DAttrs = PoolAttrs<3>;
using AvgPool1DAttrs = AvgPoolAttrs<1>;
using AvgPool2DAttrs = AvgPoolAttrs<2>;
using AvgPool3DAttrs = AvgPoolAttrs<3>;

template <>
const AttrSchema& attr_schema<MaxPool2DAttrs>();
template <>
const AttrSchema& attr_schema<AvgPool2DAttrs>();

/// A window that moves over the axes `axes` of the data.
struct PoolWindow {
  std::vector<int> axes;  ///< positions in the layout
  std::vector<int64_t> size, strides, dilation, before, after;
};

/// The window of a pool with these attributes; `letters` are the spatial axes, "DHW".
template <class A>
PoolWindow pool_window(const A& attrs, const std::string& letters) {
  PoolWindow window{
      layout_axes(attrs.layout, letters), attrs.pool_size, attrs.strides, attrs.dilation, {}, {}};
  window.dilation.resize(letters.size(), 1);
  split_padding(attrs.padding, letters.size(), &window.before, &window.after);
  return window;
}

/// The cell `cell` of the window at position `at` (an index into the result): its location in the data, and
/// whether it is inside.
struct Cell {
  Index at;  // clamped to the data
  Halide::Expr inside;
};

/// `cell` is numbered from the start of the window, `data` are the extents of the data.
Cell cell_of(const PoolWindow& w, const std::vector<Dim>& data, Index at, const Index& cell);

/// What a max pool starts from: the least finite number for a window that lies in the padding alone, else the
/// least number. `out` are the extents of the result. (The padding itself is the least number: Halide takes
/// the least finite one for it, and leaves out a maximum with that.)
Halide::Expr first_maximum(const PoolWindow& w, const std::vector<Dim>& data, const std::vector<Dim>& out,
                           const Index& at, Halide::Type type);

/// The number of cells of the window at `at` that count for the mean; `padded`: including those in the
/// padding.
Halide::Expr cell_count(const PoolWindow& w, const std::vector<Dim>& data, const Index& at, bool padded);

}  // namespace baton
