// Matrix products and convolutions of quantised tensors: the plain rules on data and weight, and checks of
// the rest. Relay calls them with (data, weight, zero points, scales) but names their inputs in another
// order; we keep its names.
#include "baton/ops/nn/conv/conv2d_relation.h"
#include "baton/ops/nn/conv/conv_transpose_relation.h"
#include "baton/ops/nn/matmul_relations.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/qnn/product_rules.h"
#include "baton/ops/qnn/quant_types.h"

namespace baton {

namespace {

// How many channels the result of a convolution has, which conv2d_relation has accepted.
Dim output_channels(const Conv2DAttrs& attrs, const TensorTypeNode& weight) {
  if (attrs.channels) return *attrs.channels;
  const bool grouped = attrs.kernel_layout.find('G') != std::string::npos;
  const Layout canonical = *Layout::parse(grouped ? "GOIHW" : "OIHW");
  const std::vector<Dim> shape =
      convert_shape(weight.shape(), *Layout::parse(attrs.kernel_layout), canonical);
  return grouped ? times(shape[0], shape[1]) : shape[0];
}

RelationStatus quantized_conv2d_relation(RelationContext& ctx, const Conv2DAttrs& attrs) {
  if (!tensors_known(ctx, 0, 5)) return kDefer;
  if (!check_product_types(ctx, attrs.out_dtype)) return kFailed;
  if (attrs.channels && !check_least(ctx, "channels", {&*attrs.channels, 1}, 1)) return kFailed;
  const RelationStatus status = conv2d_relation(ctx, attrs);
  if (status != kDone) return status;
  return check_per_channel(ctx, 5, kScaleType, output_channels(attrs, *ctx.tensor(1))) ? kDone : kFailed;
}

RelationStatus quantized_conv2d_transpose_relation(RelationContext& ctx, const Conv2DTransposeAttrs& attrs) {
  if (!tensors_known(ctx, 0, 5)) return kDefer;
  if (!check_product_types(ctx, attrs.out_dtype) || !check_least(ctx, "padding", attrs.padding, 0))
    return kFailed;
  const RelationStatus status = conv2d_transpose_relation(ctx, attrs);
  if (status != kDone) return status;
  const bool grouped = attrs.kernel_layout.find('G') != std::string::npos;
  const Layout canonical = *Layout::parse(grouped ? "GIOHW" : "IOHW");
  const std::vector<Dim> weight =
      convert_shape(ctx.tensor(1)->shape(), *Layout::parse(attrs.kernel_layout), canonical);
  const Dim channels = attrs.channels ? Dim(*attrs.channels)
                       : grouped      ? times(weight[0], weight[2])
                                      : weight[1];
  return check_per_channel(ctx, 5, kScaleType, channels) ? kDone : kFailed;
}

RelationStatus quantized_dense_relation(RelationContext& ctx, const DenseAttrs& attrs) {
  if (!tensors_known(ctx, 0, 5)) return kDefer;
  if (!check_product_types(ctx, attrs.out_dtype)) return kFailed;
  if (attrs.units && !check_least(ctx, "units", {&*attrs.units, 1}, 0)) return kFailed;
  const RelationStatus status = dense_relation(ctx, attrs);
  if (status != kDone) return status;
  const Dim units =
      attrs.units ? Dim(*attrs.units) : ctx.tensor(1)->shape()[0];  // dense_relation checked the rank
  return check_per_channel(ctx, 3, kZeroPointType, units) && check_per_channel(ctx, 5, kScaleType, units)
             ? kDone
             : kFailed;
}

RelationStatus quantized_batch_matmul_relation(RelationContext& ctx, const BatchMatmulAttrs& attrs) {
  if (!tensors_known(ctx, 0, 5)) return kDefer;
  if (!check_product_types(ctx, attrs.out_dtype)) return kFailed;
  if (!check_scalar(ctx, 3, kZeroPointType) || !check_scalar(ctx, 5, kScaleType)) return kFailed;
  return batch_matmul_relation(ctx, attrs);
}

}  // namespace

const OpDef& op_qnn_conv2d() {
  static const OpDef def = OpSpec<Conv2DAttrs>{
      .name = "qnn.conv2d",
      .doc = "nn.conv2d of (data - its zero point) and (weight - its zero point), in integers.",
      .inputs = {{"data", "quantised 4-D tensor in data_layout"},
                 {"weight", "quantised 4-D tensor in kernel_layout"},
                 {"input_scale", "third in a call: the zero point of the data, int32 scalar"},
                 {"input_zero_point", "fourth: the zero point of the weight, int32"},
                 {"weight_scale", "fifth: the scale of the data, float32 scalar"},
                 {"weight_zero_point",
                  "sixth: the scale of the weight, float32 scalar or one value per output channel"}},
      .fuse = Fuse::kOutFusable,
      .relation = quantized_conv2d_relation,
      .non_computational = true,
      .python =
          "qnn.conv2d(data, kernel, input_zero_point, kernel_zero_point, input_scale, kernel_scale, "
          "kernel_size, channels, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, "
          "data_layout='NCHW', kernel_layout='OIHW', out_layout='', out_dtype='int32')",
      .rules = op_rules(quantized_conv2d_rule(), conv_layout_flow(), ConvertedLayout::kConvolution,
                        OwnPadding::kQuantizedConvolution),
  };
  return def;
}

const OpDef& op_qnn_conv2d_transpose() {
  static const OpDef def = OpSpec<Conv2DTransposeAttrs>{
      .name = "qnn.conv2d_transpose",
      .doc = "nn.conv2d_transpose of (data - its zero point) and (weight - its zero point), in integers.",
      .inputs = {{"data", "quantised 4-D tensor in data_layout"},
                 {"weight", "quantised 4-D tensor in kernel_layout"},
                 {"input_scale", "third in a call: the zero point of the data, int32 scalar"},
                 {"input_zero_point", "fourth: the zero point of the weight, int32"},
                 {"weight_scale", "fifth: the scale of the data, float32 scalar"},
                 {"weight_zero_point",
                  "sixth: the scale of the weight, float32 scalar or one value per output channel"}},
      .relation = quantized_conv2d_transpose_relation,
      .non_computational = true,
      .python =
          "qnn.conv2d_transpose(data, weight, input_zero_point, kernel_zero_point, input_scale, "
          "kernel_scale, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, channels=None, "
          "kernel_size=None, data_layout='NCHW', kernel_layout='IOHW', out_layout='', output_padding=(0, 0), "
          "out_dtype='int32')",
      .rules = op_rules(quantized_conv2d_transpose_rule(), conv_layout_flow(), ConvertedLayout::kConvolution),
  };
  return def;
}

const OpDef& op_qnn_dense() {
  static const OpDef def = OpSpec<DenseAttrs>{
      .name = "qnn.dense",
      .doc = "nn.dense of (data - its zero point) and (weight - its zero point), in integers.",
      .inputs = {{"data", "quantised tensor of rank >= 1, k innermost"},
                 {"weight", "quantised matrix (units, k)"},
                 {"input_scale", "third in a call: the zero point of the data, int32 scalar"},
                 {"input_zero_point",
                  "fourth: the zero point of the weight, int32 scalar or one value per unit"},
                 {"weight_scale", "fifth: the scale of the data, float32 scalar"},
                 {"weight_zero_point",
                  "sixth: the scale of the weight, float32 scalar or one value per unit"}},
      .fuse = Fuse::kOutFusable,
      .relation = quantized_dense_relation,
      .non_computational = true,
      .python =
          "qnn.dense(data, weight, input_zero_point, kernel_zero_point, input_scale, kernel_scale, units, "
          "out_dtype='int32')",
      .rules = op_rules(quantized_dense_rule()),
  };
  return def;
}

const OpDef& op_qnn_batch_matmul() {
  static const OpDef def = OpSpec<BatchMatmulAttrs>{
      .name = "qnn.batch_matmul",
      .doc = "nn.batch_matmul of (x - its zero point) and (y - its zero point), in integers.",
      .inputs = {{"x", "quantised 3-D tensor"},
                 {"y", "quantised 3-D tensor"},
                 {"x_scale", "third in a call: the zero point of x, int32 scalar"},
                 {"x_zero_point", "fourth: the zero point of y, int32 scalar"},
                 {"y_scale", "fifth: the scale of x, float32 scalar"},
                 {"y_zero_point", "sixth: the scale of y, float32 scalar"}},
      .fuse = Fuse::kOutFusable,
      .relation = quantized_batch_matmul_relation,
      .non_computational = true,
      .rules = op_rules(quantized_batch_matmul_rule()),
  };
  return def;
}

}  // namespace baton
