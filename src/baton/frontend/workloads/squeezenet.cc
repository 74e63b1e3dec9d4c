#include "baton/frontend/workloads/networks.h"

namespace baton::workloads {

namespace {

Expr pool(const Expr& x) {
  return layer("nn.max_pool2d", {x},
               {{"pool_size", std::vector<int64_t>{3, 3}},
                {"strides", std::vector<int64_t>{2, 2}},
                {"padding", std::vector<int64_t>{0, 0, 0, 0}}});
}

// A fire module: squeezed to few channels, then expanded by 1x1 and 3x3 convolutions side by side.
Expr fire(const Expr& data, const std::string& name, int64_t squeezed, int64_t expanded) {
  const ImageLayout layout;
  const Expr x =
      relu(conv2d_bias(data, name + "_input_conv", layout, {.channels = squeezed, .kernel = {1, 1}}));
  const Expr left =
      relu(conv2d_bias(x, name + "_left_conv", layout, {.channels = expanded, .kernel = {1, 1}}));
  const Expr right = relu(conv2d_bias(x, name + "_right_conv", layout,
                                      {.channels = expanded, .kernel = {3, 3}, .padding = {1, 1}}));
  return layer("concatenate", {tuple({left, right})}, {{"axis", int64_t{1}}});
}

}  // namespace

// Iandola et al., "SqueezeNet", 2016; 1.1 is the authors' later release, with smaller kernels and earlier
// pooling. Fire modules are counted from 1, where the paper counts conv1 as the first.
IRModule squeezenet(const std::string& version, const ImageNetOptions& options) {
  if (version != "1.0" && version != "1.1")
    throw Error("there is no SqueezeNet \"" + version + "\"; use \"1.0\" or \"1.1\"");
  const bool first = version == "1.0";
  const ImageLayout layout;
  static constexpr int64_t kFires[][2] = {{16, 64},  {16, 64},  {32, 128}, {32, 128},
                                          {48, 192}, {48, 192}, {64, 256}, {64, 256}};
  Expr x = var("data", image_type(options.batch, options.image_shape, options.dtype));
  const int64_t kernel = first ? 7 : 3;
  x = relu(conv2d_bias(x, "conv1", layout,
                       {.channels = first ? 96 : 64,
                        .kernel = {kernel, kernel},
                        .strides = {2, 2},
                        .padding = {kernel / 2, kernel / 2}}));
  x = pool(x);
  for (int number = 1; number <= 8; ++number) {
    const auto& [squeezed, expanded] = kFires[number - 1];
    x = fire(x, "fire" + std::to_string(number), squeezed, expanded);
    const bool pooled = first ? number == 3 || number == 7 : number == 2 || number == 4;
    if (pooled) x = pool(x);
  }
  x = get_item(layer("nn.dropout", {x}, {{"rate", 0.5}}), 0);
  x = relu(conv2d_bias(x, "conv_final", layout, {.channels = options.num_classes, .kernel = {1, 1}}));
  x = layer("nn.batch_flatten", {layer("nn.global_avg_pool2d", {x})});
  return network(softmax(x));
}

}  // namespace baton::workloads
