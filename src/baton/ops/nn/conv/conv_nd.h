#pragma once
// Shared by convolutions over any number of spatial axes: attribute fields, types, indices.
#include <string>
#include <vector>

#include "baton/ir/layout.h"
#include "baton/ops/compute_util.h"
#include "baton/ops/domain.h"
#include "baton/ops/shared/conv_attrs.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

template <class A>
void add_window(std::vector<AttrSpec<A>>& to) {
  to.push_back({"strides", inherited<A>(&A::strides), "step along each spatial axis"});
  to.push_back({"padding", inherited<A>(&A::padding),
                "zeros around the data: one value, one per axis, or all befores and then all afters"});
  to.push_back(
      {"dilation", inherited<A>(&A::dilation), "distance of the kernel's taps along each spatial axis"});
}

template <class A>
void add_kernel(std::vector<AttrSpec<A>>& to) {
  to.push_back(
      {"channels", inherited<A>(&A::channels), "number of output channels; None: read from the weight"});
  to.push_back(
      {"kernel_size", inherited<A>(&A::kernel_size), "extents of the kernel; None: read from the weight"});
}

template <class A>
void add_groups(std::vector<AttrSpec<A>>& to) {
  to.push_back(
      {"groups", inherited<A>(&A::groups), "channels are split into that many independent convolutions"});
}

template <class A>
void add_layouts(std::vector<AttrSpec<A>>& to) {
  to.push_back({"data_layout", inherited<A>(&A::data_layout), "layout of the data"});
  to.push_back({"kernel_layout", inherited<A>(&A::kernel_layout), "layout of the weight"});
  to.push_back({"out_layout", inherited<A>(&A::out_layout), "layout of the result; empty: as the data"});
  to.push_back({"out_dtype", inherited<A>(&A::out_dtype), "element type of the result; void: as the data"});
}

/// The fields of ConvAttrs in Relay's order, for it and for what inherits from it.
template <class A>
std::vector<AttrSpec<A>> conv_fields() {
  std::vector<AttrSpec<A>> fields;
  add_window(fields);
  add_groups(fields);
  add_kernel(fields);
  add_layouts(fields);
  return fields;
}

/// A convolution as its relation reads it.
struct ConvFacts {
  int count = 0;  ///< spatial axes
  Layout data_layout, kernel_layout, out_layout, data_canonical, kernel_canonical;
  std::vector<Dim> data;  ///< N, C, spatial
  std::vector<int64_t> padding;
  DType out_dtype;
};

/// The attributes and the data's shape; nullopt after a report.
template <class A>
std::optional<ConvFacts> read_conv(RelationContext& ctx, const A& attrs, int count) {
  const TensorTypeNode& data = *ctx.tensor(0);
  const std::string data_name = data_letters(count), kernel_name = std::string("OI") + spatial_letters(count);
  const auto data_layout = checked_layout(ctx, "data_layout", attrs.data_layout, data_name.c_str());
  if (!data_layout) return std::nullopt;
  const auto kernel_layout = checked_layout(ctx, "kernel_layout", attrs.kernel_layout, kernel_name.c_str());
  if (!kernel_layout) return std::nullopt;
  const auto out_layout = attrs.out_layout.empty()
                              ? data_layout
                              : checked_layout(ctx, "out_layout", attrs.out_layout, data_name.c_str());
  if (!out_layout || !check_in_layout(ctx, data, *data_layout, 0)) return std::nullopt;
  const size_t n = static_cast<size_t>(count);
  if (!check_lists(ctx, {{"strides", &attrs.strides}, {"dilation", &attrs.dilation}}, n)) return std::nullopt;
  if (!check_least(ctx, "groups", {&attrs.groups, 1}, 1)) return std::nullopt;
  if (attrs.channels && !check_least(ctx, "channels", {&*attrs.channels, 1}, 1)) return std::nullopt;
  if (attrs.kernel_size && !check_lists(ctx, {{"kernel_size", &*attrs.kernel_size}}, n)) return std::nullopt;
  if (count == 1 && !check_count(ctx, "padding", attrs.padding, 2)) return std::nullopt;
  const auto padding = padding_sums(ctx, attrs.padding, count);
  if (!padding) return std::nullopt;
  const Layout canonical = *Layout::parse(data_name);
  return ConvFacts{count,
                   *data_layout,
                   *kernel_layout,
                   *out_layout,
                   canonical,
                   *Layout::parse(kernel_name),
                   convert_shape(data.shape(), *data_layout, canonical),
                   *padding,
                   attrs.out_dtype.is_void() ? data.dtype() : attrs.out_dtype};
}

/// The result of a convolution with `channels` output channels and a window of the extents `kernel`.
template <class A>
RelationStatus assign_conv_result(RelationContext& ctx, const A& attrs, const ConvFacts& conv, Dim channels,
                                  const std::vector<Dim>& kernel) {
  std::vector<Dim> shape{conv.data[0], channels};
  for (int i = 0; i < conv.count; ++i) {
    const auto extent = window_positions(
        ctx, {conv.data[2 + i], conv.padding[i], kernel[i], attrs.dilation[i], attrs.strides[i]});
    if (!extent) return kFailed;
    shape.push_back(*extent);
  }
  return ctx.assign_result(
      tensor_type(convert_shape(shape, conv.data_canonical, conv.out_layout), conv.out_dtype));
}

/// The common attributes of convolutions.
struct ConvNd {
  int count = 0;  ///< spatial axes
  Layout data_layout, kernel_layout, out_layout;
  std::vector<int64_t> strides, dilation, before, after;
  int64_t groups = 1;
};

template <class A>
ConvNd conv_nd(const A& attrs, int count) {
  ConvNd conv{count,
              *Layout::parse(attrs.data_layout),
              *Layout::parse(attrs.kernel_layout),
              *Layout::parse(attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout),
              attrs.strides,
              attrs.dilation,
              {},
              {},
              attrs.groups};
  split_padding(attrs.padding, static_cast<size_t>(count), &conv.before, &conv.after);
  return conv;
}

/// Index (n, channel, spatial...) of a tensor in `layout` with `count` spatial axes.
inline Halide::Expr at_plain(const Tensor& tensor, const Layout& layout, const Index& plain) {
  const Layout canonical = *Layout::parse(data_letters(static_cast<int>(plain.size()) - 2));
  return tensor(convert_index<Halide::Expr>(plain, canonical, layout));
}

}  // namespace baton
