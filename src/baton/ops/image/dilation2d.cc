#include "baton/ops/domain.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

struct Dilation2DAttrs {
  std::vector<int64_t> strides{1, 1};
  std::vector<int64_t> padding{0, 0};
  std::vector<int64_t> dilations{1, 1};
  std::string data_layout = "NCHW";
  std::string kernel_layout = "IHW";
  DType out_dtype = {};
};

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

RelationStatus dilation2d_relation(RelationContext& ctx, const Dilation2DAttrs& attrs) {
  const TensorTypeNode *data = ctx.tensor(0), *weight = ctx.tensor(1);
  if (!data || !weight) return kDefer;
  const auto data_layout = checked_layout(ctx, "data_layout", attrs.data_layout, "NCHW");
  if (!data_layout) return kFailed;
  const auto kernel_layout = checked_layout(ctx, "kernel_layout", attrs.kernel_layout, "IHW");
  if (!kernel_layout || !check_in_layout(ctx, *data, *data_layout, 0) ||
      !check_in_layout(ctx, *weight, *kernel_layout, 1))
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
  const std::vector<Dim> in = convert_shape(data.dims(), data_layout, nchw);
  const std::vector<int64_t> kernel = convert_shape(weight.shape(), kernel_layout, ihw);
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
    inside = inside && position >= 0 && position < as_expr(in[2 + k]);
    from[2 + k] = inside_axis(position, in[2 + k]);
    c.needs_elements(in[2 + k]);
  }
  const Halide::Expr element = cast(type, data(convert_index<Halide::Expr>(from, nchw, data_layout)));
  const Halide::Expr value = select(inside, element, cast(type, 0)) + cast(type, weight(tap));
  Halide::Func largest = c.stage("dilation2d");
  largest(i.reversed()) = lowest(type);
  largest(i.reversed()) = ieee_maximum(largest(i.reversed()), value);
  c.result(copy_stage(c, largest));
}

}  // namespace

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
