// Reading images at given positions: crops, grids, affine maps; and grey-scale dilation.
#include "baton/ops/domain.h"
#include "baton/ops/image/sample_compute.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/shared/pool_nd_compute.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

struct CropAndResizeAttrs {
  std::optional<std::vector<int64_t>> crop_size = {};
  std::string layout = "NCHW";
  std::string method = "bilinear";
  double extrapolation_value = 0;
  DType out_dtype = {};
};

struct AffineGridAttrs {
  std::vector<int64_t> target_shape = {};
};

struct GridSampleAttrs {
  std::string method = "bilinear";
  std::string layout = "NCHW";
  std::string padding_mode = "zeros";
  bool align_corners = true;
};

struct Dilation2DAttrs {
  std::vector<int64_t> strides{1, 1};
  std::vector<int64_t> padding{0, 0};
  std::vector<int64_t> dilations{1, 1};
  std::string data_layout = "NCHW";
  std::string kernel_layout = "IHW";
  DType out_dtype = {};
};

template <>
const AttrSchema& attr_schema<CropAndResizeAttrs>() {
  using A = CropAndResizeAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.CropAndResizeAttrs",
                     {{"crop_size", &A::crop_size, "height and width of the crops"},
                      {"layout", &A::layout, "layout of the data"},
                      {"method", &A::method, "\"bilinear\" or \"nearest_neighbor\""},
                      {"extrapolation_value", &A::extrapolation_value, "value outside the data"},
                      {"out_dtype", &A::out_dtype, "element type of the result; void: as the data"}});
  return schema;
}
template <>
const AttrSchema& attr_schema<AffineGridAttrs>() {
  static const AttrSchema schema = make_schema<AffineGridAttrs>(
      "relay.attrs.AffineGridAttrs",
      {{"target_shape", &AffineGridAttrs::target_shape, "height and width of the grid", kNoDefault}});
  return schema;
}
template <>
const AttrSchema& attr_schema<GridSampleAttrs>() {
  using A = GridSampleAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.GridSampleAttrs",
                     {{"method", &A::method, "\"nearest\", \"bilinear\" or \"bicubic\""},
                      {"layout", &A::layout, "layout of the data, NCHW or NCDHW"},
                      {"padding_mode", &A::padding_mode,
                       "what lies outside the data: \"zeros\", \"border\" or \"reflection\""},
                      {"align_corners", &A::align_corners,
                       "whether -1 and 1 are the middles of the outermost cells, or their borders"}});
  return schema;
}
template <>
const AttrSchema& attr_schema<Dilation2DAttrs>() {
  using A = Dilation2DAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.Dilation2DAttrs",
      {{"strides", &A::strides, "step along height and width"},
       {"padding", &A::padding, "cells around the data: p, or [h, w], or [top, left, bottom, right]"},
       {"dilations", &A::dilations, "distance of the kernel's taps along height and width"},
       {"data_layout", &A::data_layout, "layout of the data"},
       {"kernel_layout", &A::kernel_layout, "layout of the weight"},
       {"out_dtype", &A::out_dtype, "element type of the result; void: as the data"}});
  return schema;
}

namespace {

RelationStatus crop_and_resize_relation(RelationContext& ctx, const CropAndResizeAttrs& attrs) {
  const TensorTypeNode *data = ctx.tensor(0), *boxes = ctx.tensor(1), *indices = ctx.tensor(2);
  if (!data || !boxes || !indices) return kDefer;
  const auto layout = checked_layout(ctx, "layout", attrs.layout, "NCHW");
  if (!layout || !check_rank(ctx, *data, layout->rank(), 0) || !check_rank(ctx, *boxes, 2, 1) ||
      !check_rank(ctx, *indices, 1, 2))
    return kFailed;
  if (!may_equal(boxes->shape()[1], 4))
    return fail_arg(ctx, 1, "each box needs 4 numbers, got " + type_text(ctx.input(1)));
  if (!may_equal(boxes->shape()[0], indices->shape()[0]))
    return fail_arg(ctx, 2, "each box needs the index of an image, got " + type_text(ctx.input(2)));
  if (!attrs.crop_size)
    return fail_attr(ctx, "crop_size", "None", "height and width of the crops are needed");
  if (!check_lists(ctx, {{"crop_size", &*attrs.crop_size}}, 2)) return kFailed;
  const Layout canonical = *Layout::parse("NCHW");
  std::vector<Dim> shape = convert_shape(data->shape(), *layout, canonical);
  shape[0] = boxes->shape()[0];
  shape[2] = (*attrs.crop_size)[0];
  shape[3] = (*attrs.crop_size)[1];
  return ctx.assign_result(tensor_type(convert_shape(shape, canonical, *layout),
                                       attrs.out_dtype.is_void() ? data->dtype() : attrs.out_dtype));
}

RelationStatus affine_grid_relation(RelationContext& ctx, const AffineGridAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (!check_rank(ctx, *data, 3, 0)) return kFailed;
  if (!may_equal(data->shape()[1], 2) || !may_equal(data->shape()[2], 3))
    return fail_arg(ctx, 0, "matrices of 2 x 3 are needed, got " + type_text(ctx.input(0)));
  if (!check_lists(ctx, {{"target_shape", &attrs.target_shape}}, 2)) return kFailed;
  const std::vector<Dim> shape{data->shape()[0], 2, attrs.target_shape[0], attrs.target_shape[1]};
  return ctx.assign_result(tensor_type(shape, data->dtype()));
}

RelationStatus grid_sample_relation(RelationContext& ctx, const GridSampleAttrs& attrs) {
  const TensorTypeNode *data = ctx.tensor(0), *grid = ctx.tensor(1);
  if (!data || !grid) return kDefer;
  if (attrs.layout != "NCHW" && attrs.layout != "NCDHW")
    return fail_attr(ctx, "layout", "\"" + attrs.layout + "\"", "it must be \"NCHW\" or \"NCDHW\"");
  const int rank = static_cast<int>(attrs.layout.size());
  if (!check_rank(ctx, *data, rank, 0) || !check_rank(ctx, *grid, rank, 1)) return kFailed;
  if (!may_equal(data->shape()[0], grid->shape()[0]))
    return fail_arg(ctx, 1, "one grid is needed for each image, got " + type_text(ctx.input(1)));
  if (!may_equal(grid->shape()[1], rank - 2))
    return fail_arg(
        ctx, 1,
        "positions need " + std::to_string(rank - 2) + " coordinates, got " + type_text(ctx.input(1)));
  std::vector<Dim> shape = grid->shape();
  shape[0] = data->shape()[0];
  shape[1] = data->shape()[1];
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

RelationStatus dilation2d_relation(RelationContext& ctx, const Dilation2DAttrs& attrs) {
  const TensorTypeNode *data = ctx.tensor(0), *weight = ctx.tensor(1);
  if (!data || !weight) return kDefer;
  const auto data_layout = checked_layout(ctx, "data_layout", attrs.data_layout, "NCHW");
  if (!data_layout) return kFailed;
  const auto kernel_layout = checked_layout(ctx, "kernel_layout", attrs.kernel_layout, "IHW");
  if (!kernel_layout || !check_rank(ctx, *data, data_layout->rank(), 0) ||
      !check_rank(ctx, *weight, kernel_layout->rank(), 1))
    return kFailed;
  if (!check_lists(ctx, {{"strides", &attrs.strides}, {"dilations", &attrs.dilations}}, 2)) return kFailed;
  const auto padding = padding_sums(ctx, attrs.padding, 2);
  if (!padding) return kFailed;
  const Layout canonical = *Layout::parse("NCHW");
  std::vector<Dim> shape = convert_shape(data->shape(), *data_layout, canonical);
  const std::vector<Dim> kernel = convert_shape(weight->shape(), *kernel_layout, *Layout::parse("IHW"));
  if (!may_equal(shape[1], kernel[0]))
    return fail_arg(ctx, 1,
                    "data with " + std::to_string(shape[1].value()) +
                        " channels needs a weight with as many, got " + type_text(ctx.input(1)));
  for (int i = 0; i < 2; ++i) {
    const auto extent = window_positions(
        ctx, {shape[2 + i], (*padding)[i], kernel[1 + i], attrs.dilations[i], attrs.strides[i]});
    if (!extent) return kFailed;
    shape[2 + i] = *extent;
  }
  return ctx.assign_result(tensor_type(convert_shape(shape, canonical, *data_layout),
                                       attrs.out_dtype.is_void() ? data->dtype() : attrs.out_dtype));
}

// Padding counts as 0.
void dilation2d_compute(Compute& c, const Dilation2DAttrs& attrs) {
  const Layout nchw = *Layout::parse("NCHW"), ihw = *Layout::parse("IHW");
  const Layout data_layout = *Layout::parse(attrs.data_layout),
               kernel_layout = *Layout::parse(attrs.kernel_layout);
  const Tensor &data = c.in(0), &weight = c.in(1);
  const std::vector<int64_t> in = convert_shape(data.shape(), data_layout, nchw),
                             kernel = convert_shape(weight.shape(), kernel_layout, ihw);
  std::vector<int64_t> before, after;
  split_padding(attrs.padding, 2, &before, &after);
  const Halide::Type type = halide_type(c.out().dtype());
  const Axes i(data.rank());
  Index from = convert_index<Halide::Expr>(i.exprs(), data_layout, nchw);
  const Domain r({kernel[1], kernel[2]});
  const Index tap = convert_index<Halide::Expr>({from[1], r[0], r[1]}, ihw, kernel_layout);
  Halide::Expr inside = Halide::Internal::const_true();
  for (int k = 0; k < 2; ++k) {
    const Halide::Expr position =
        from[2 + k] * as_int(attrs.strides[k]) + r[k] * as_int(attrs.dilations[k]) - as_int(before[k]);
    inside = inside && position >= 0 && position < as_int(in[2 + k]);
    from[2 + k] = inside_axis(position, in[2 + k]);
  }
  const Halide::Expr element = cast(type, data(convert_index<Halide::Expr>(from, nchw, data_layout)));
  const Halide::Expr value = select(inside, element, cast(type, 0)) + cast(type, weight(tap));
  Halide::Func largest = c.stage("dilation2d");
  largest(i.reversed()) = lowest(type);
  largest(i.reversed()) = max(largest(i.reversed()), value);
  c.result(copy_stage(c, largest));
}

}  // namespace

const OpDef& op_image_crop_and_resize() {
  static const OpDef def = OpSpec<CropAndResizeAttrs>{
      .name = "image.crop_and_resize",
      .doc = "Boxes cut out of images, all resized to crop_size.",
      .inputs = {{"data", "4-D tensor in `layout`"},
                 {"boxes", "(n, 4): y1, x1, y2, x2, from 0 to 1"},
                 {"box_indices", "(n): which image"}},
      .fuse = Fuse::kInjective,
      .relation = crop_and_resize_relation,
      .compute =
          [](Compute& c, const CropAndResizeAttrs& attrs) {
            crop_and_resize_compute(c, *Layout::parse(attrs.layout), attrs.method, attrs.extrapolation_value);
          },
      .python =
          "image.crop_and_resize(data, boxes, box_indices, crop_size, layout, method='bilinear', "
          "extrapolation_value=0, out_dtype=None)",
      .test_shapes = {"(2, 6, 6, 2)f32, (2, 4)f32{0, 0, 0.5, 0.5, 0.20000000298023224, 0.10000000149011612, "
                      "0.8999999761581421, 0.800000011920929}, (2)i32{0, 1}, crop_size=[2, 4], layout=NHWC, "
                      "method=nearest_neighbor"},
  };
  return def;
}

const OpDef& op_image_affine_grid() {
  static const OpDef def = OpSpec<AffineGridAttrs>{
      .name = "image.affine_grid",
      .doc = "The positions (x, y) that an affine map gives the points of a grid from -1 to 1.",
      .inputs = {{"data", "(n, 2, 3): the maps"}},
      .fuse = Fuse::kInjective,
      .relation = affine_grid_relation,
      .compute = [](Compute& c, const AffineGridAttrs&) { affine_grid_compute(c); },
      .test_shapes = {"(2, 2, 3)f32, target_shape=[3, 4]"},
  };
  return def;
}

const OpDef& op_image_grid_sample() {
  static const OpDef def = OpSpec<GridSampleAttrs>{
      .name = "image.grid_sample",
      .doc = "The data at the positions of a grid, whose coordinates go from -1 to 1.",
      .inputs = {{"data", "tensor in `layout`"},
                 {"grid", "(n, coordinates, height, width), or with a depth"}},
      .fuse = Fuse::kInjective,
      .relation = grid_sample_relation,
      .compute =
          [](Compute& c, const GridSampleAttrs& attrs) {
            grid_sample_compute(c, attrs.method, attrs.padding_mode, attrs.align_corners);
          },
      .test_shapes = {"(1, 2, 4, 4)f32, (1, 2, 3, 3)f32[-1.2, 1.2], method=bicubic, padding_mode=reflection"},
  };
  return def;
}

const OpDef& op_image_dilation2d() {
  static const OpDef def = OpSpec<Dilation2DAttrs>{
      .name = "image.dilation2d",
      .doc = "Grey-scale dilation: the largest of data + weight in a window, for each channel.",
      .inputs = {{"data", "4-D tensor in data_layout"}, {"weight", "3-D tensor in kernel_layout"}},
      .fuse = Fuse::kOutFusable,
      .relation = dilation2d_relation,
      .compute = dilation2d_compute,
      .rules = op_rules(conv_layout_flow()),
      .test_shapes = {"(1, 2, 5, 5)f32, (2, 3, 3)f32, padding=[1, 1, 1, 1]"},
  };
  return def;
}

}  // namespace baton
