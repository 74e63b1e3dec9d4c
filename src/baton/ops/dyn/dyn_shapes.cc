// The extents of results from the inputs' values.
#include <algorithm>
#include <cmath>

#include "baton/ir/layout.h"
#include "baton/ops/dyn/dyn_compute.h"
#include "baton/ops/dyn/expand_dims_attrs.h"
#include "baton/ops/image/resize2d_attrs.h"
#include "baton/ops/nn/upsampling.h"
#include "baton/ops/tensor/reshape_relation.h"
#include "baton/support/diagnostic.h"

namespace baton {

namespace {

std::string numbers_text(const std::vector<int64_t>& values) { return attr_text(AttrValue(values)); }

int64_t scalar_of(const NDArray& array, const char* what) {
  const std::vector<int64_t> values = integers_of(array);
  if (values.size() != 1)
    throw NotSupported(std::string(what) + " must be one number, got " + numbers_text(values));
  return values[0];
}

double real_of(const NDArray& array) {
  if (array.size() == 1 && array.dtype() == DType::float_(32)) return array.as<float>()[0];
  if (array.size() == 1 && array.dtype() == DType::float_(64)) return array.as<double>()[0];
  return static_cast<double>(scalar_of(array, "a factor"));
}

int checked_place(int64_t axis, int64_t rank, const char* op) {
  const int64_t at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank)
    throw NotSupported(std::string(op) + ": axis " + std::to_string(axis) + " of a tensor of rank " +
                       std::to_string(rank));
  return static_cast<int>(at);
}

// The shape in `text`'s layout with other extents for the spatial axes.
Shapes with_spatial(const NDArray& data, const std::string& text, const char* canonical,
                    const std::vector<int64_t>& spatial) {
  const Layout layout = *Layout::parse(text), plain = *Layout::parse(canonical);
  std::vector<int64_t> shape = convert_shape(data.shape(), layout, plain);
  if (spatial.size() + 2 != shape.size())
    throw NotSupported("a size needs one extent for each spatial axis, got " + numbers_text(spatial));
  std::copy(spatial.begin(), spatial.end(), shape.begin() + 2);
  return {convert_shape(shape, plain, layout)};
}

Shapes scaled(const Arrays& inputs, const std::string& text, const char* canonical) {
  const Layout layout = *Layout::parse(text), plain = *Layout::parse(canonical);
  const std::vector<int64_t> shape = convert_shape(inputs[0].shape(), layout, plain);
  std::vector<int64_t> spatial;
  for (size_t k = 2; k < shape.size(); ++k) {
    const double extent = std::nearbyint(static_cast<double>(shape[k]) * real_of(inputs[k - 1]));
    if (!(extent >= 0 && extent <= INT32_MAX))
      throw NotSupported("a scaled image would have an axis that is too large");
    spatial.push_back(static_cast<int64_t>(extent));
  }
  return with_spatial(inputs[0], text, canonical, spatial);
}

}  // namespace

Shapes dyn_reshape_shapes(const Attrs& attrs, const Arrays& inputs) {
  const std::vector<Dim> from(inputs[0].shape().begin(), inputs[0].shape().end());
  std::string why;
  const auto shape = reshaped(from, integers_of(inputs[1]), attrs_as<ReshapeAttrs>(attrs).allowzero, &why);
  if (!shape) throw NotSupported("dyn.reshape to " + numbers_text(integers_of(inputs[1])) + ": " + why);
  std::vector<int64_t> extents;
  for (const Dim& dim : *shape) extents.push_back(dim.value());
  return {extents};
}

Shapes dyn_expand_dims_shapes(const Attrs& attrs, const Arrays& inputs) {
  std::vector<int64_t> shape = inputs[0].shape();
  const int64_t rank = static_cast<int64_t>(shape.size()) + 1;
  const int at = checked_place(scalar_of(inputs[1], "an axis"), rank, "dyn.expand_dims");
  shape.insert(shape.begin() + at, static_cast<size_t>(attrs_as<DynExpandDimsAttrs>(attrs).num_newaxis), 1);
  return {shape};
}

Shapes dyn_squeeze_shapes(const Attrs&, const Arrays& inputs) {
  const std::vector<int64_t>& from = inputs[0].shape();
  std::vector<bool> dropped(from.size(), false);
  for (const int64_t axis : integers_of(inputs[1])) {
    const int at = checked_place(axis, static_cast<int64_t>(from.size()), "dyn.squeeze");
    if (from[at] != 1)
      throw NotSupported("dyn.squeeze: axis " + std::to_string(axis) + " is " + std::to_string(from[at]) +
                         ", not 1");
    dropped[at] = true;
  }
  std::vector<int64_t> shape;
  for (size_t k = 0; k < from.size(); ++k)
    if (!dropped[k]) shape.push_back(from[k]);
  return {shape};
}

Shapes dyn_strided_slice_shapes(const Attrs& attrs, const Arrays& inputs) {
  StridedSliceAttrs known = attrs_as<StridedSliceAttrs>(attrs);
  known.begin = integers_of(inputs[1]);
  known.end = integers_of(inputs[2]);
  known.strides = integers_of(inputs[3]);
  if (std::count(known.strides->begin(), known.strides->end(), 0))
    throw NotSupported("dyn.strided_slice: a step is 0");
  std::vector<int64_t> shape = inputs[0].shape();
  for (size_t k = 0; k < std::min(shape.size(), std::max(known.begin->size(), known.end->size())); ++k)
    shape[k] = slice_of(known, k, shape[k]).count;
  return {shape};
}

Shapes dyn_tile_shapes(const Attrs&, const Arrays& inputs) {
  std::vector<int64_t> shape = inputs[0].shape(), reps = integers_of(inputs[1]);
  const size_t rank = std::max(shape.size(), reps.size());
  shape.insert(shape.begin(), rank - shape.size(), 1);
  reps.insert(reps.begin(), rank - reps.size(), 1);
  for (size_t k = 0; k < rank; ++k) {
    if (reps[k] < 0 || reps[k] > INT32_MAX)
      throw NotSupported("dyn.tile: repetitions of " + numbers_text(reps));
    shape[k] *= reps[k];
  }
  return {shape};
}

Shapes dyn_pad_shapes(const Attrs&, const Arrays& inputs) {
  std::vector<int64_t> shape = inputs[0].shape();
  const std::vector<int64_t> widths = integers_of(inputs[1]);
  if (widths.size() != 2 * shape.size())
    throw NotSupported("dyn.nn.pad needs a pair of widths for each axis");
  for (size_t k = 0; k < shape.size(); ++k) {
    if (widths[2 * k] < 0 || widths[2 * k + 1] < 0)
      throw NotSupported("dyn.nn.pad: widths of " + numbers_text(widths));
    shape[k] += widths[2 * k] + widths[2 * k + 1];
  }
  return {shape};
}

Shapes dyn_one_hot_shapes(const Attrs& attrs, const Arrays& inputs) {
  std::vector<int64_t> shape = inputs[0].shape();
  const int at =
      checked_place(attrs_as<OneHotAttrs>(attrs).axis, static_cast<int64_t>(shape.size()) + 1, "dyn.one_hot");
  shape.insert(shape.begin() + at, scalar_of(inputs[3], "the depth"));
  return {shape};
}

Shapes dyn_topk_shapes(const Attrs& attrs, const Arrays& inputs) {
  const auto& topk = attrs_as<TopkAttrs>(attrs);
  std::vector<int64_t> shape = inputs[0].shape();
  const int at = checked_place(topk.axis, static_cast<int64_t>(shape.size()), "dyn.topk");
  const int64_t k = scalar_of(inputs[1], "k");
  if (k > shape[at])
    throw NotSupported("dyn.topk: k is " + std::to_string(k) + ", and there are " +
                       std::to_string(shape[at]) + " elements");
  if (k >= 1) shape[at] = k;
  return topk.ret_type == "both" ? Shapes{shape, shape} : Shapes{shape};
}

Shapes dyn_resize2d_shapes(const Attrs& attrs, const Arrays& inputs) {
  return with_spatial(inputs[0], attrs_as<Resize2DAttrs>(attrs).layout, "NCHW", integers_of(inputs[1]));
}
Shapes dyn_upsampling_shapes(const Attrs& attrs, const Arrays& inputs) {
  return scaled(inputs, attrs_as<UpSamplingAttrs>(attrs).layout, "NCHW");
}
Shapes dyn_upsampling3d_shapes(const Attrs& attrs, const Arrays& inputs) {
  return scaled(inputs, attrs_as<UpSampling3DAttrs>(attrs).layout, "NCDHW");
}

}  // namespace baton
