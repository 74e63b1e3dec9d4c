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
                        FakeQuantizationRule{fake_quantized_conv2d}, conv_layout_flow(), conv_macs()),
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
      .rules = op_rules(conv_layout_flow()),
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
      .rules = op_rules(conv_layout_flow()),
  };
  return def;
}

}  // namespace baton
