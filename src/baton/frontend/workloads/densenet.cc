#include <map>
#include <utility>

#include "baton/frontend/workloads/networks.h"

namespace baton::workloads {

namespace {

struct Plan {
  int64_t first, growth;
  std::vector<int> units;  // of each block
};

Expr activated_conv(const Expr& data, const std::string& name, const ConvOptions& options) {
  const ImageLayout layout;
  return conv2d(relu(batch_norm(data, "batch" + name, layout)), "conv2d" + name, layout, options);
}

}  // namespace

// Huang et al., "Densely Connected Convolutional Networks", 2017 (DenseNet-BC): a unit's 1x1 convolution has
// four times the growth, a transition halves the channels. As in relay.testing, a unit sees the one before it
// only; the concatenation follows at the end of the block.
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
  const std::vector<int64_t> two{2, 2}, none{0, 0, 0, 0};
  Expr x = var("data", image_type(options.batch, options.image_shape, options.dtype));
  x = conv2d(x, "conv1", layout, {.channels = first, .kernel = {7, 7}, .strides = two, .padding = {3, 3}});
  x = relu(batch_norm(x, "batch1", layout));
  x = layer("nn.max_pool2d", {x},
            {{"pool_size", std::vector<int64_t>{3, 3}},
             {"strides", two},
             {"padding", std::vector<int64_t>{1, 1, 1, 1}}});
  int64_t channels = first;
  for (size_t block = 0; block < units.size(); ++block) {
    const std::string index = std::to_string(block);
    std::vector<Expr> grown;
    for (int i = 0; i < units[block]; ++i) {
      const std::string name = "_" + index + "_" + std::to_string(i);
      x = activated_conv(x, "_1" + name, {.channels = 4 * growth, .kernel = {1, 1}});
      x = activated_conv(x, "_2" + name, {.channels = growth, .kernel = {3, 3}, .padding = {1, 1}});
      grown.push_back(x);
    }
    x = layer("concatenate", {tuple(std::move(grown))}, {{"axis", int64_t{1}}});
    channels += growth * units[block];
    if (block + 1 == units.size()) break;
    channels /= 2;
    x = conv2d(relu(batch_norm(x, "batch_t_" + index, layout)), "conv_t_" + index, layout,
               {.channels = channels, .kernel = {1, 1}});
    x = layer("nn.avg_pool2d", {x}, {{"pool_size", two}, {"strides", two}, {"padding", none}});
  }
  x = layer("nn.avg_pool2d", {relu(batch_norm(x, "batch2", layout))},
            {{"pool_size", std::vector<int64_t>{7, 7}}, {"padding", none}});
  return network(dense_bias(layer("nn.batch_flatten", {x}), "dense", options.num_classes));
}

}  // namespace baton::workloads
