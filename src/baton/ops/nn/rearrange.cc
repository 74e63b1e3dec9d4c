// Operators of nn that move elements: depth and space, batch and space, dilation, mirrored padding, queues.
#include <algorithm>
#include <functional>

#include "baton/ir/rules/read_rule.h"
#include "baton/ops/domain.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/layout_rules.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

struct SubPixelAttrs {
  int64_t block_size = 1;
  std::string layout = "NCHW";
  std::string mode = "DCR";  ///< depth, column, row; any other word is CRD
};

struct SpaceToBatchNDAttrs {
  std::vector<int64_t> block_shape{1, 1};
  std::vector<std::vector<int64_t>> paddings = {};
  double pad_value = 0;
};

struct BatchToSpaceNDAttrs {
  std::vector<int64_t> block_shape{1, 1};
  std::vector<std::vector<int64_t>> crops = {};
};

struct DilateAttrs {
  std::vector<int64_t> strides{1, 1};
  double dilation_value = 0;
};

struct MirrorPadAttrs {
  std::string mode = "SYMMETRIC";  ///< or REFLECT
  std::vector<std::vector<int64_t>> pad_width = {};
};

struct FIFOBufferAttrs {
  int64_t axis = 0;
};

template <>
const AttrSchema& attr_schema<SubPixelAttrs>() {
  using A = SubPixelAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.SubPixelAttrs",
      {{"block_size", &A::block_size, "edge of the squares"},
       {"layout", &A::layout, "layout of the data"},
       {"mode", &A::mode,
        "\"DCR\" or else \"CRD\": where the position in the square stands among the channels"}});
  return schema;
}
template <>
const AttrSchema& attr_schema<SpaceToBatchNDAttrs>() {
  using A = SpaceToBatchNDAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.SpaceToBatchNDAttrs",
                     {{"block_shape", &A::block_shape, "extents of a block"},
                      {"paddings", &A::paddings,
                       "how many elements come before and after, for each axis of the block", kNoDefault},
                      {"pad_value", &A::pad_value, "their value"}});
  return schema;
}
template <>
const AttrSchema& attr_schema<BatchToSpaceNDAttrs>() {
  using A = BatchToSpaceNDAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.BatchToSpaceNDAttrs",
      {{"block_shape", &A::block_shape, "extents of a block"},
       {"crops", &A::crops, "how many elements are cut off before and after, for each axis of the block",
        kNoDefault}});
  return schema;
}
template <>
const AttrSchema& attr_schema<DilateAttrs>() {
  using A = DilateAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.DilateAttrs",
                     {{"strides", &A::strides, "distance of the elements in the result, for each axis"},
                      {"dilation_value", &A::dilation_value, "what stands between them"}});
  return schema;
}
template <>
const AttrSchema& attr_schema<MirrorPadAttrs>() {
  using A = MirrorPadAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.MirrorPadAttrs",
      {{"mode", &A::mode, "\"SYMMETRIC\": the border is repeated; \"REFLECT\": it is not"},
       {"pad_width", &A::pad_width, "how many elements come before and after, for each axis", kNoDefault}});
  return schema;
}
template <>
const AttrSchema& attr_schema<FIFOBufferAttrs>() {
  static const AttrSchema schema = make_schema<FIFOBufferAttrs>(
      "relay.attrs.FIFOBufferAttrs", {{"axis", &FIFOBufferAttrs::axis, "the axis of the queue"}});
  return schema;
}

namespace {

// The data's layout, when it can be moved to NCHW, has the data's rank and block_size is usable.
std::optional<Layout> sub_pixel_layout(RelationContext& ctx, const SubPixelAttrs& attrs) {
  const auto layout = checked_layout(ctx, "layout", attrs.layout, "NCHW");
  if (!layout || !check_in_layout(ctx, *ctx.tensor(0), *layout, 0)) return std::nullopt;
  if (!check_least(ctx, "block_size", {&attrs.block_size, 1}, 1)) return std::nullopt;
  return layout;
}

// How many whole blocks there are along `dim`: what is left over is no part of the result. Reports when there
// is none.
std::optional<Dim> whole_blocks(RelationContext& ctx, const char* name, Dim dim, WideInt by) {
  if (dim.is_any()) return by > INT64_MAX ? Dim::any() : floor_div(dim, static_cast<int64_t>(by));
  if (dim.value() == 0 || dim.value() >= by) return Dim(static_cast<int64_t>(dim.value() / by));
  fail_attr(ctx, name, "too large", "an extent of " + std::to_string(dim.value()) + " holds no block");
  return std::nullopt;
}

// dim / by without a remainder; reports when there is one.
std::optional<Dim> split_evenly(RelationContext& ctx, const char* name, Dim dim, WideInt by) {
  if (dim.is_any() || dim.value() % by == 0) return whole_blocks(ctx, name, dim, by);
  fail_attr(ctx, name, "too large or uneven",
            "blocks do not divide an extent of " + std::to_string(dim.value()));
  return std::nullopt;
}

RelationStatus depth_to_space_relation(RelationContext& ctx, const SubPixelAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const auto layout = sub_pixel_layout(ctx, attrs);
  if (!layout) return kFailed;
  const Layout canonical = *Layout::parse("NCHW");
  std::vector<Dim> shape = convert_shape(data->shape(), *layout, canonical);
  const auto channels =
      whole_blocks(ctx, "block_size", shape[1], static_cast<WideInt>(attrs.block_size) * attrs.block_size);
  if (!channels) return kFailed;
  shape[1] = *channels;
  for (int axis : {2, 3}) {
    const auto extent = checked_product(ctx, {shape[axis], attrs.block_size});
    if (!extent) return kFailed;
    shape[axis] = *extent;
  }
  return ctx.assign_result(tensor_type(convert_shape(shape, canonical, *layout), data->dtype()));
}

RelationStatus space_to_depth_relation(RelationContext& ctx, const SubPixelAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const auto layout = sub_pixel_layout(ctx, attrs);
  if (!layout) return kFailed;
  const Layout canonical = *Layout::parse("NCHW");
  std::vector<Dim> shape = convert_shape(data->shape(), *layout, canonical);
  const auto channels = checked_product(ctx, {shape[1], attrs.block_size, attrs.block_size});
  if (!channels) return kFailed;
  shape[1] = *channels;
  for (int axis : {2, 3}) {
    const auto extent = whole_blocks(ctx, "block_size", shape[axis], attrs.block_size);
    if (!extent) return kFailed;
    shape[axis] = *extent;
  }
  return ctx.assign_result(tensor_type(convert_shape(shape, canonical, *layout), data->dtype()));
}

// The data at (n, c, h, w), read in its own layout, as the operator's value. `at` gets the result's n, c, h,
// w.
void moved_compute(Compute& c, const SubPixelAttrs& attrs, const char* name,
                   const std::function<Index(const Index&)>& at) {
  const Layout layout = *Layout::parse(attrs.layout), canonical = *Layout::parse("NCHW");
  const Axes i(c.in(0).rank());
  Halide::Func moved = c.stage(name);
  moved(i.reversed()) =
      c.in(0)(convert_index(at(convert_index(i.exprs(), layout, canonical)), canonical, layout));
  c.result(moved);
}

int64_t plain_channels(const std::vector<Dim>& dims, const SubPixelAttrs& attrs) {
  return number_of(convert_shape(dims, *Layout::parse(attrs.layout), *Layout::parse("NCHW"))[1],
                   "a number for the channels");
}

void depth_to_space_compute(Compute& c, const SubPixelAttrs& attrs) {
  const int block = as_int(attrs.block_size);
  const int64_t given = plain_channels(c.in(0).dims(), attrs), held = plain_channels(c.out().shape(), attrs);
  const int channels = as_int(given / attrs.block_size / attrs.block_size);
  if (held != channels)
    throw NotSupported("`nn.depth_to_space` to " + std::to_string(channels) +
                       " channels, which do not fill the blocks of layout " + attrs.layout + ": they hold " +
                       std::to_string(held));
  moved_compute(c, attrs, "depth_to_space", [&](const Index& o) {
    const Halide::Expr cell = o[2] % block * block + o[3] % block;
    const Halide::Expr channel = attrs.mode == "DCR" ? cell * channels + o[1] : o[1] * (block * block) + cell;
    return Index{o[0], channel, o[2] / block, o[3] / block};
  });
}

void space_to_depth_compute(Compute& c, const SubPixelAttrs& attrs) {
  const int block = as_int(attrs.block_size);
  const int channels = as_int(plain_channels(c.in(0).dims(), attrs));
  moved_compute(c, attrs, "space_to_depth", [&](const Index& o) {
    const Halide::Expr cell = o[1] / channels;
    return Index{o[0], o[1] % channels, o[2] * block + cell / block, o[3] * block + cell % block};
  });
}

// Whether block_shape and its pairs fit the data's rank.
bool check_block(RelationContext& ctx, const std::vector<int64_t>& block, const char* name,
                 const std::vector<std::vector<int64_t>>& pairs) {
  const int rank = ctx.tensor(0)->rank();
  if (block.empty() || static_cast<int>(block.size()) >= rank) {
    fail_attr(
        ctx, "block_shape", attr_text(AttrValue(block)),
        "it needs 1 to " + std::to_string(rank - 1) + " values for data of rank " + std::to_string(rank));
    return false;
  }
  if (!check_least(ctx, "block_shape", block, 1)) return false;
  bool good = pairs.size() == block.size();
  for (const std::vector<int64_t>& pair : pairs)
    good = good && pair.size() == 2 && pair[0] >= 0 && pair[1] >= 0;
  if (!good)
    fail_attr(ctx, name, attr_text(attr_value(pairs)),
              "a pair of numbers that are not negative is needed for each axis of the block");
  return good;
}

RelationStatus space_to_batch_relation(RelationContext& ctx, const SpaceToBatchNDAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (!check_block(ctx, attrs.block_shape, "paddings", attrs.paddings)) return kFailed;
  std::vector<Dim> shape = data->shape();
  for (size_t i = 0; i < attrs.block_shape.size(); ++i) {
    const auto batch = checked_product(ctx, {shape[0], attrs.block_shape[i]});
    if (!batch) return kFailed;
    shape[0] = *batch;
    Dim& dim = shape[i + 1];
    const auto padded = dim.is_any() ? dim + attrs.paddings[i][0] + attrs.paddings[i][1]
                                     : checked_extent(ctx, static_cast<WideInt>(dim.value()) +
                                                               attrs.paddings[i][0] + attrs.paddings[i][1]);
    if (!padded) return kFailed;
    const auto extent = split_evenly(ctx, "block_shape", *padded, attrs.block_shape[i]);
    if (!extent) return kFailed;
    dim = *extent;
  }
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

RelationStatus batch_to_space_relation(RelationContext& ctx, const BatchToSpaceNDAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (!check_block(ctx, attrs.block_shape, "crops", attrs.crops)) return kFailed;
  std::vector<Dim> shape = data->shape();
  for (size_t i = 0; i < attrs.block_shape.size(); ++i) {
    const auto batch = split_evenly(ctx, "block_shape", shape[0], attrs.block_shape[i]);
    if (!batch) return kFailed;
    shape[0] = *batch;
    Dim& dim = shape[i + 1];
    if (dim.is_any()) {
      dim = dim * attrs.block_shape[i] - attrs.crops[i][0] - attrs.crops[i][1];
      continue;
    }
    const WideInt grown = static_cast<WideInt>(dim.value()) * attrs.block_shape[i];
    const auto extent = checked_extent(ctx, grown - attrs.crops[i][0] - attrs.crops[i][1]);
    if (!extent) return kFailed;
    dim = *extent;
  }
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

RelationStatus dilate_relation(RelationContext& ctx, const DilateAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (!check_lists(ctx, {{"strides", &attrs.strides}}, data->shape().size())) return kFailed;
  std::vector<Dim> shape = data->shape();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == Dim(0)) continue;
    const auto extent =
        shape[i].is_any()
            ? (shape[i] - 1) * attrs.strides[i] + 1
            : checked_extent(ctx, static_cast<WideInt>(shape[i].value() - 1) * attrs.strides[i] + 1);
    if (!extent) return kFailed;
    shape[i] = *extent;
  }
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

RelationStatus mirror_pad_relation(RelationContext& ctx, const MirrorPadAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (attrs.mode != "SYMMETRIC" && attrs.mode != "REFLECT")
    return fail_attr(ctx, "mode", "\"" + attrs.mode + "\"", "it must be \"SYMMETRIC\" or \"REFLECT\"");
  const std::string written = attr_text(attr_value(attrs.pad_width));
  if (attrs.pad_width.size() != data->shape().size())
    return fail_attr(ctx, "pad_width", written,
                     "one pair is needed for each of the " + std::to_string(data->rank()) + " axes");
  std::vector<Dim> shape = data->shape();
  for (size_t i = 0; i < shape.size(); ++i) {
    const std::vector<int64_t>& width = attrs.pad_width[i];
    if (width.size() != 2 || width[0] < 0 || width[1] < 0)
      return fail_attr(ctx, "pad_width", written, "each axis needs two numbers that are not negative");
    if (shape[i].is_any()) {
      shape[i] = shape[i] + width[0] + width[1];
      continue;
    }
    const int64_t most = std::max<int64_t>(0, shape[i].value() - (attrs.mode == "REFLECT" ? 1 : 0));
    if (std::max(width[0], width[1]) > most)
      return fail_attr(
          ctx, "pad_width", written,
          "axis " + std::to_string(i) + " has only " + std::to_string(most) + " elements to mirror");
    const auto extent = checked_extent(ctx, static_cast<WideInt>(shape[i].value()) + width[0] + width[1]);
    if (!extent) return kFailed;
    shape[i] = *extent;
  }
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

// SYMMETRIC mirrors at the border, so that -1 is 0; REFLECT at the last element, so that -1 is 1.
void mirror_pad_compute(Compute& c, const MirrorPadAttrs& attrs) {
  const Axes i(c.in(0).rank());
  const int twice = attrs.mode == "SYMMETRIC" ? 1 : 0;
  Index at = i.exprs();
  for (int axis = 0; axis < i.rank(); ++axis) {
    const int before = as_int(attrs.pad_width[axis][0]);
    c.needs_elements(c.in(0).dim(axis));
    const Halide::Expr last = as_expr(c.in(0).dim(axis) - 1);
    const Halide::Expr index = i[axis] - before;
    const Halide::Expr mirrored =
        select(index<0, -index - twice, index> last, 2 * last + twice - index, index);
    at[axis] = clamp(mirrored, 0, last);
  }
  Halide::Func pad = c.stage("mirror_pad");
  pad(i.reversed()) = c.in(0)(at);
  c.result(pad);
}

RelationStatus fifo_buffer_relation(RelationContext& ctx, const FIFOBufferAttrs& attrs) {
  const TensorTypeNode *data = ctx.tensor(0), *buffer = ctx.tensor(1);
  if (!data || !buffer) return kDefer;
  if (!check_rank(ctx, *buffer, data->rank(), 1)) return kFailed;
  const auto at = checked_axis(ctx, attrs.axis, data->rank());
  if (!at) return kFailed;
  if (data->dtype() != buffer->dtype())
    return fail_arg(
        ctx, 1, "data of " + data->dtype().str() + " cannot go into a buffer of " + buffer->dtype().str());
  for (int axis = 0; axis < data->rank(); ++axis) {
    const Dim in = data->shape()[axis], held = buffer->shape()[axis];
    const bool fits =
        axis == *at ? in.is_any() || held.is_any() || in.value() <= held.value() : may_equal(in, held);
    if (!fits)
      return fail_arg(ctx, 1,
                      "data of shape " + shape_text(data->shape()) + " does not fit into a buffer of shape " +
                          shape_text(buffer->shape()));
  }
  return ctx.assign_result(ctx.input(1));
}

// Batch entry (cell of the block) * images + image.
void space_to_batch_compute(Compute& c, const SpaceToBatchNDAttrs& attrs) {
  const Tensor& data = c.in(0);
  const Axes i(data.rank());
  const Halide::Expr images = data.size(0);
  Halide::Expr cell = i[0] / images, inside = Halide::Internal::const_true();
  Index at = i.exprs();
  at[0] = i[0] % images;
  for (int k = static_cast<int>(attrs.block_shape.size()); k-- > 0;
       cell = cell / as_int(attrs.block_shape[k])) {
    const int block = as_int(attrs.block_shape[k]);
    const Halide::Expr position = i[k + 1] * block + cell % block - as_int(attrs.paddings[k][0]);
    inside = inside && position >= 0 && position < data.size(k + 1);
    at[k + 1] = inside_axis(position, data.dim(k + 1));
    c.needs_elements(data.dim(k + 1));
  }
  Halide::Func moved = c.stage("space_to_batch");
  moved(i.reversed()) = select(inside, data(at), constant_of(c.out().dtype(), attrs.pad_value));
  c.result(moved);
}

void batch_to_space_compute(Compute& c, const BatchToSpaceNDAttrs& attrs) {
  const Axes i(c.out().rank());
  Halide::Expr cell = 0;
  Index at = i.exprs();
  for (size_t k = 0; k < attrs.block_shape.size(); ++k) {
    const int block = as_int(attrs.block_shape[k]);
    const Halide::Expr position = i[static_cast<int>(k) + 1] + as_int(attrs.crops[k][0]);
    cell = cell * block + position % block;
    at[k + 1] = position / block;
  }
  at[0] = cell * as_expr(c.out().shape()[0]) + i[0];
  Halide::Func moved = c.stage("batch_to_space");
  moved(i.reversed()) = c.in(0)(at);
  c.result(moved);
}

void dilate_compute(Compute& c, const DilateAttrs& attrs) {
  const Tensor& data = c.in(0);
  const Axes i(data.rank());
  Halide::Expr taken = Halide::Internal::const_true();
  Index at = i.exprs();
  for (int k = 0; k < data.rank(); ++k) {
    const int step = as_int(attrs.strides[k]);
    if (step == 1) continue;
    taken = taken && i[k] % step == 0;
    at[k] = i[k] / step;
  }
  Halide::Func dilated = c.stage("dilate");
  dilated(i.reversed()) = is_const_one(taken)
                              ? data(at)
                              : select(taken, data(at), constant_of(c.out().dtype(), attrs.dilation_value));
  c.result(dilated);
}

void fifo_buffer_compute(Compute& c, const FIFOBufferAttrs& attrs) {
  const Tensor &data = c.in(0), &buffer = c.in(1);
  const Axes i(data.rank());
  const int axis = from_front(attrs.axis, data.rank());
  const Halide::Expr kept = as_expr(buffer.dim(axis) - data.dim(axis));
  Index old = i.exprs(), fresh = i.exprs();
  old[axis] = inside_axis(i[axis] + data.size(axis), buffer.dim(axis));
  fresh[axis] = inside_axis(i[axis] - kept, data.dim(axis));
  Halide::Func queue = c.stage("fifo_buffer");
  queue(i.reversed()) = select(i[axis] < kept, buffer(old), data(fresh));
  c.result(queue);
}

/// What the new data pushes out of the buffer is not read.
double fifo_buffer_reads(const CostQuery& q, size_t input, double) {
  return input == 0 ? q.input_elements(0) : std::max(0.0, q.output_elements() - q.input_elements(0));
}

}  // namespace

const OpDef& op_nn_depth_to_space() {
  static const OpDef def = OpSpec<SubPixelAttrs>{
      .name = "nn.depth_to_space",
      .doc = "Spreads groups of block_size * block_size channels over squares of the plane.",
      .inputs = {{"data", "4-D tensor in `layout`"}},
      .fuse = Fuse::kInjective,
      .relation = depth_to_space_relation,
      .compute = depth_to_space_compute,
      .python = "nn.depth_to_space(data, block_size, layout='NCHW', mode='DCR')",
      .rules =
          op_rules(MixedPrecision::kFollow, FakeQuantizationRule{fake_quantized_same, /*without_end=*/false},
                   depth_to_space_layout_rule()),
      .test_shapes = {"(1, 8, 2, 3)f32, block_size=2", "(1, 8, 3, 2, 4)f32, block_size=2, layout=NCHW4c"},
  };
  return def;
}

const OpDef& op_nn_space_to_depth() {
  static const OpDef def = OpSpec<SubPixelAttrs>{
      .name = "nn.space_to_depth",
      .doc =
          "Moves the cells of squares of the plane to channels: the inverse of nn.depth_to_space in mode "
          "DCR.",
      .inputs = {{"data", "4-D tensor in `layout`"}},
      .fuse = Fuse::kInjective,
      .relation = space_to_depth_relation,
      .compute = space_to_depth_compute,
      .python = "nn.space_to_depth(data, block_size, layout='NCHW')",
      .test_shapes = {"(1, 2, 4, 6)f32, block_size=2, mode=\"\""},
  };
  return def;
}

const OpDef& op_nn_space_to_batch_nd() {
  static const OpDef def = OpSpec<SpaceToBatchNDAttrs>{
      .name = "nn.space_to_batch_nd",
      .doc = "Pads the axes after the batch and moves the cells of their blocks to the batch.",
      .inputs = {{"data", "tensor (batch, spatial..., rest...)"}},
      .fuse = Fuse::kInjective,
      .relation = space_to_batch_relation,
      .compute = space_to_batch_compute,
      .python = "nn.space_to_batch_nd(data, block_shape, paddings, pad_value=0)",
      .test_shapes = {"(1, 4, 4, 2)f32, block_shape=[2, 2], paddings=[[1, 1], [0, 2]], pad_value=1."},
  };
  return def;
}

const OpDef& op_nn_batch_to_space_nd() {
  static const OpDef def = OpSpec<BatchToSpaceNDAttrs>{
      .name = "nn.batch_to_space_nd",
      .doc = "Spreads the batch over blocks of the axes after it and crops these.",
      .inputs = {{"data", "tensor (batch, spatial..., rest...)"}},
      .fuse = Fuse::kInjective,
      .relation = batch_to_space_relation,
      .compute = batch_to_space_compute,
      .python = "nn.batch_to_space_nd(data, block_shape, crops)",
      .test_shapes = {"(4, 2, 2, 1)f32, block_shape=[2, 2], crops=[[0, 0], [0, 0]]"},
  };
  return def;
}

const OpDef& op_nn_dilate() {
  static const OpDef def = OpSpec<DilateAttrs>{
      .name = "nn.dilate",
      .doc = "The data's elements `strides` apart, with dilation_value between them.",
      .inputs = {{"x", "tensor"}},
      .fuse = Fuse::kInjective,
      .relation = dilate_relation,
      .compute = dilate_compute,
      .declares_attrs = false,
      .python = "nn.dilate(data, strides, dilation_value=0.0)",
      .test_shapes = {"(2, 3)f32, strides=[1, 2]"},
  };
  return def;
}

const OpDef& op_nn_mirror_pad() {
  static const OpDef def = OpSpec<MirrorPadAttrs>{
      .name = "nn.mirror_pad",
      .doc = "The data with mirrored elements before and after, along each axis.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kInjective,
      .relation = mirror_pad_relation,
      .compute = mirror_pad_compute,
      .python = "nn.mirror_pad(data, pad_width, mode='SYMMETRIC')",
      .test_shapes = {"(3, 4)f32, mode=REFLECT, pad_width=[[1, 1], [2, 1]]"},
  };
  return def;
}

const OpDef& op_nn_fifo_buffer() {
  static const OpDef def = OpSpec<FIFOBufferAttrs>{
      .name = "nn.fifo_buffer",
      .doc = "The buffer moved along `axis`, with the data at its end: what falls off the start is lost.",
      .inputs = {{"data", "tensor"}, {"buffer", "tensor, at least as long along `axis`"}},
      .relation = fifo_buffer_relation,
      .compute = fifo_buffer_compute,
      .python = "nn.fifo_buffer(data, buffer, axis)",
      .rules = op_rules(ReadRule{fifo_buffer_reads}),
      .test_shapes = {"(2, 1, 3)f32, (2, 4, 3)f32, axis=1"},
  };
  return def;
}

}  // namespace baton
