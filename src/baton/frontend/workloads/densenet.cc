#include <map>

#include "baton/frontend/workloads/networks.h"

namespace baton::workloads {

namespace {

struct Plan {
  int64_t first, growth;
  std::vector<int> units;  // of each block
};

Expr activated_conv(const Expr& data, const std::string& name, const ConvOptions& options) {
  const ImageLayout layout;
  return conv2d(relu(batch_norm(data, name + "_bn", layout)), name + "_conv", layout, options);
}

}  // namespace

// Huang et al., "Densely Connected Convolutional Networks", 2017 (DenseNet-BC): a unit's 1x1 convolution has
// four times the growth, a transition halves the channels.
IRModule densenet(int num_layers, const ImageNetOptions& options) {
  static const std::map<int, Plan> kPlans = {{121, {64, 32, {6, 12, 24, 16}}},
                                             {161, {96, 48, {6, 12, 36, 24}}},
                                             {169, {64, 32, {6, 12, 32, 32}}},
                                             {201, {64, 32, {6, 12, 48, 32}}}};
  const auto plan = kPlans.find(num_layers);
  if (plan == kPlans.end())
    throw Error("there is no DenseNet of " + std::to_string(num_layers) +
                " layers; use 121, 161, 169 or 201");
  const auto& [first, growth, units] = plan->second;
  const ImageLayout layout;
  const std::vector<int64_t> two{2, 2};
  Expr x = var("data", image_type(options.batch, options.image_shape, options.dtype));
  x = conv2d(x, "conv0", layout, {.channels = first, .kernel = {7, 7}, .strides = two, .padding = {3, 3}});
  x = relu(batch_norm(x, "bn0", layout));
  x = layer("nn.max_pool2d", {x},
            {{"pool_size", std::vector<int64_t>{3, 3}},
             {"strides", two},
             {"padding", std::vector<int64_t>{1, 1, 1, 1}}});
  int64_t channels = first;
  for (size_t block = 0; block < units.size(); ++block) {
    const std::string prefix = "block" + std::to_string(block + 1);
    for (int i = 1; i <= units[block]; ++i) {
      const std::string name = prefix + "_unit" + std::to_string(i);
      Expr grown = activated_conv(x, name + "_1", {.channels = 4 * growth, .kernel = {1, 1}});
      grown = activated_conv(grown, name + "_2", {.channels = growth, .kernel = {3, 3}, .padding = {1, 1}});
      x = layer("concatenate", {tuple({x, grown})}, {{"axis", int64_t{1}}});
      channels += growth;
    }
    if (block + 1 == units.size()) break;
    channels /= 2;
    x = activated_conv(x, "transition" + std::to_string(block + 1), {.channels = channels, .kernel = {1, 1}});
    x = layer("nn.avg_pool2d", {x}, {{"pool_size", two}, {"strides", two}});
  }
  x = relu(batch_norm(x, "bn1", layout));
  x = layer("nn.batch_flatten", {layer("nn.global_avg_pool2d", {x})});
  return network(softmax(dense_bias(x, "fc1", options.num_classes)));
}

}  // namespace baton::workloads
