#include "baton/ops/nn/conv/conv2d_compute.h"
#include "baton/ops/nn/conv/conv2d_relation.h"
#include "baton/ops/nn/conv/packed_conv_compute.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/gradient_rules.h"
#include "baton/ops/rules/int8_rules.h"
#include "baton/ops/rules/scale_rules.h"

namespace baton {

const OpDef& op_nn_conv2d() {
  static const OpDef def = OpSpec<Conv2DAttrs>{
      .name = "nn.conv2d",
      .doc =
          "Convolution over height and width: out[n, o, y, x] = sum over i, dy, dx of data[n, i, y * stride "
          "+ dy * "
          "dilation, x * stride + dx * dilation] * weight[o, i, dy, dx], zeros outside the data.",
      .inputs = {{"data", "4-D tensor in data_layout, or packed"},
                 {"weight", "4-D tensor in kernel_layout, or packed"}},
      .fuse = Fuse::kOutFusable,
      .relation = conv2d_relation,
      .compute = conv2d_compute,
      .cost = conv_cost,
      .rules = op_rules(conv_scale_rule(), conv2d_gradient(), int8_conv2d_rule(), MixedPrecision::kAlways,
                        FakeQuantizationRule{fake_quantized_conv2d}, conv_layout_flow(), conv_macs(),
                        AnchorRule{"conv_plain"}, ConvertedLayout::kConvolution, OwnPadding::kConvolution),
      .test_shapes =
          {"(1, 3, 8, 8)f32, (4, 3, 3, 3)f32, padding=[0, 1, 2, 1], channels=4, kernel_size=[3, 3]",
           "(1, 4, 5, 5)f32, (8, 1, 3, 3)f32, strides=[2, 2], groups=4, channels=8, kernel_size=[3, 3]",
           "(2, 7, 6, 3)f32, (1, 1, 3, 5)f32, channels=5, kernel_size=[1, 1], data_layout=NHWC, "
           "kernel_layout=HWIO",
           "(1, 3, 8, 8)f32, (4, 3, 3, 3)f32, dilation=[2, 2], channels=4, kernel_size=[3, 3]",
           "(1, 2, 4, 4)i8[-9, 9], (3, 2, 1, 1)i8[-9, 9], channels=3, kernel_size=[1, 1], out_dtype=int32"},
  };
  return def;
}

const OpDef& op_nn_contrib_conv2d_NCHWc() {
  static const OpDef def = OpSpec<Conv2DAttrs>{
      .name = "nn.contrib_conv2d_NCHWc",
      .doc = "nn.conv2d on packed layouts such as NCHW16c and OIHW16i16o.",
      .inputs = {{"data", "packed tensor"}, {"weight", "packed tensor"}},
      .fuse = Fuse::kOutFusable,
      .relation = packed_conv2d_relation,
      .compute = conv2d_nchwc_compute,
      .cost = conv_cost,
      .python =
          "nn.contrib_conv2d_nchwc(data, kernel, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, "
          "channels=None, kernel_size=None, data_layout='NCHW8c', kernel_layout='OIHW', out_layout='', "
          "out_dtype='')",
      .rules = op_rules(conv_layout_flow(), AnchorRule{"conv_direct"}),
      .test_shapes = {"(1, 2, 6, 6, 4)f32, (2, 2, 3, 3, 4, 4)f32, padding=[1, 1, 1, 1], channels=8, "
                      "kernel_size=[3, 3], data_layout=NCHW4c, kernel_layout=OIHW4i4o, out_layout=NCHW4c",
                      "(1, 1, 7, 5, 16)f32, (2, 1, 1, 1, 16, 16)f32, channels=32, kernel_size=[1, 1], "
                      "data_layout=NCHW16c, kernel_layout=OIHW16i16o, out_layout=NCHW16c"},
  };
  return def;
}

const OpDef& op_nn_contrib_depthwise_conv2d_NCHWc() {
  static const OpDef def = OpSpec<Conv2DAttrs>{
      .name = "nn.contrib_depthwise_conv2d_NCHWc",
      .doc = "Depthwise nn.conv2d (groups = channels) on packed layouts such as NCHW16c and OIHW1i16o.",
      .inputs = {{"data", "packed tensor"}, {"weight", "packed tensor"}},
      .fuse = Fuse::kOutFusable,
      .relation = packed_conv2d_relation,
      .compute = depthwise_conv2d_nchwc_compute,
      .cost = conv_cost,
      .python =
          "nn.contrib_depthwise_conv2d_nchwc(data, kernel, strides=(1, 1), padding=(0, 0), dilation=(1, 1), "
          "groups=1, channels=None, kernel_size=None, data_layout='NCHW8c', kernel_layout='OIHW', "
          "out_layout='', out_dtype='')",
      .rules = op_rules(conv_layout_flow(), AnchorRule{"conv_depthwise"}),
      .test_shapes =
          {"(1, 2, 6, 6, 4)f32, (2, 1, 3, 3, 1, 4)f32, padding=[1, 1, 1, 1], groups=8, channels=8, "
           "kernel_size=[3, 3], data_layout=NCHW4c, kernel_layout=OIHW1i4o, out_layout=NCHW4c"},
  };
  return def;
}

}  // namespace baton
