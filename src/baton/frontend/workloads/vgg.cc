#include <map>

#include "baton/frontend/workloads/networks.h"

namespace baton::workloads {

IRModule vgg(int num_layers, bool with_batch_norm, const ImageNetOptions& options) {
  static const std::map<int, std::vector<int>> kLayers = {
      {11, {1, 1, 2, 2, 2}}, {13, {2, 2, 2, 2, 2}}, {16, {2, 2, 3, 3, 3}}, {19, {2, 2, 4, 4, 4}}};
  static constexpr int64_t kFilters[] = {64, 128, 256, 512, 512};
  const auto layers = kLayers.find(num_layers);
  if (layers == kLayers.end())
    throw Error("there is no VGG of " + std::to_string(num_layers) + " layers; use 11, 13, 16 or 19");
  const ImageLayout layout;
  Expr x = var("data", image_type(options.batch, options.image_shape, options.dtype));
  for (int group = 0; group < 5; ++group) {
    for (int i = 0; i < layers->second[group]; ++i) {
      const std::string number = std::to_string(group + 1) + "_" + std::to_string(i + 1);
      x = conv2d(x, "conv" + number, layout,
                 {.channels = kFilters[group], .kernel = {3, 3}, .padding = {1, 1}});
      x = layer("nn.bias_add", {x, var("conv" + number + "_bias")});
      if (with_batch_norm) x = batch_norm(x, "bn" + number, layout);
      x = relu(x);
    }
    x = layer("nn.max_pool2d", {x},
              {{"pool_size", std::vector<int64_t>{2, 2}},
               {"strides", std::vector<int64_t>{2, 2}},
               {"padding", std::vector<int64_t>{0, 0, 0, 0}}});
  }
  x = layer("nn.batch_flatten", {x});
  for (const char* name : {"fc6", "fc7"})
    x = get_item(layer("nn.dropout", {relu(dense_bias(x, name, 4096))}, {{"rate", 0.5}}), 0);
  x = dense_bias(x, "fc8", options.num_classes);
  return network(softmax(x));
}

}  // namespace baton::workloads
