#include "baton/frontend/workloads/networks.h"

namespace baton::workloads {

IRModule mobilenet(const MobileNetOptions& options) {
  const ImageLayout layout{options.layout};
  // Input channels, output channels, stride of each separable block.
  static constexpr int64_t kBlocks[][3] = {{32, 64, 1},    {64, 128, 2},  {128, 128, 1}, {128, 256, 2},
                                           {256, 256, 1},  {256, 512, 2}, {512, 512, 1}, {512, 512, 1},
                                           {512, 512, 1},  {512, 512, 1}, {512, 512, 1}, {512, 1024, 2},
                                           {1024, 1024, 1}};
  const auto scaled = [&](int64_t channels) {
    return static_cast<int64_t>(static_cast<double>(channels) * options.alpha);
  };
  Expr x = var("data", image_type(options.batch, options.image_shape, options.dtype));
  x = conv2d(x, "conv_block_1_conv", layout,
             {.channels = scaled(32), .kernel = {3, 3}, .strides = {2, 2}, .padding = {1, 1}});
  x = relu(batch_norm(x, "conv_block_1_bn", layout));
  int number = 0;
  for (const auto& [in, out, stride] : kBlocks) {
    if (options.shallow && in == 512 && out == 512) continue;
    const std::string name = "separable_conv_block_" + std::to_string(++number);
    x = conv2d(x, name, layout,
               {.channels = scaled(in),
                .kernel = {3, 3},
                .strides = {stride, stride},
                .padding = {1, 1},
                .groups = scaled(in),
                .depthwise = true,
                .dtype = options.dtype});
    x = relu(batch_norm(x, name + "_bn1", layout));
    x = conv2d(x, name + "_conv2", layout, {.channels = scaled(out), .kernel = {1, 1}});
    x = relu(batch_norm(x, name + "_bn2", layout));
  }
  x = layer("nn.global_avg_pool2d", {x}, {{"layout", layout.data}});
  x = dense_bias(layer("nn.batch_flatten", {x}), "fc", options.num_classes, /*bias_axis=*/1);
  return network(softmax(x));
}

}  // namespace baton::workloads
