#include "baton/frontend/workloads/networks.h"

namespace baton::workloads {

// Mnih et al., "Human-level control through deep reinforcement learning", 2015: three convolutions, two dense
// layers.
IRModule dqn(const ImageNetOptions& options) {
  const ImageLayout layout{options.layout};
  Expr x = var("data", image_type(options.batch, options.image_shape, options.dtype));
  x = relu(conv2d_bias(x, "conv1", layout, {.channels = 32, .kernel = {8, 8}, .strides = {4, 4}}));
  x = relu(conv2d_bias(x, "conv2", layout, {.channels = 64, .kernel = {4, 4}, .strides = {2, 2}}));
  x = relu(conv2d_bias(x, "conv3", layout, {.channels = 64, .kernel = {3, 3}}));
  x = relu(dense_bias(layer("nn.batch_flatten", {x}), "dense1", 512));
  return network(dense_bias(x, "dense2", options.num_classes));
}

}  // namespace baton::workloads
