// Networks of layers one after another: VGG (Simonyan and Zisserman 2014) and the like, Q-networks (Mnih et
// al. 2015), the generator of DCGAN (Radford et al. 2015), dense layers.
#include "baton/frontend/variations/blocks.h"

namespace baton::variations {

Expr vary_vgg(Blocks& make) {
  Choice& choose = make.choose;
  const int64_t size = choose.scaled(32, 128, choose.of<int64_t>({1, 8, 16}));
  int64_t width = choose.scaled(8, 64, 8);
  const bool normalised = choose.chance(0.5);
  Expr x = make.image(choose.of<int64_t>({1, 1, 1, 2}), 3, size, size);
  const auto groups = choose.between(3, 5);
  for (int64_t group = 0; group < groups; ++group) {
    for (int64_t i = choose.between(1, 3); i > 0; --i)
      x = normalised ? make.conv_norm_relu(x, {.channels = width})
                     : make.relu(make.conv_bias(x, {.channels = width}));
    x = make.max_pool(x, 2, 2, 0);
    width = std::min<int64_t>(2 * width, 512);
  }
  x = make.flatten(x);
  const int64_t units = choose.scaled(64, 2048, 32);
  for (int64_t i = choose.between(1, 2); i > 0; --i) x = make.relu(make.dense(x, units));
  return make.softmax(make.dense(x, choose.scaled(10, 1000)));
}

Expr vary_convnet(Blocks& make) {
  Choice& choose = make.choose;
  const int64_t height = choose.scaled(20, 256), width = choose.chance(0.5) ? height : choose.scaled(20, 256);
  Expr x =
      make.image(choose.of<int64_t>({1, 1, 1, 2, 3, 8}), choose.of<int64_t>({1, 3, 3, 4}), height, width);
  int64_t channels = choose.scaled(4, 64);
  for (int64_t i = choose.between(2, 6); i > 0; --i) {
    const int64_t window = choose.of<int64_t>({1, 3, 3, 3, 5, 7});
    const Blocks::Conv conv{.channels = channels,
                            .height = window,
                            .width = choose.chance(0.85) ? window : 3,
                            .stride = choose.of<int64_t>({1, 1, 1, 2})};
    x = choose.chance(0.6) ? make.conv_norm(x, conv) : make.conv_bias(x, conv);
    switch (choose.index(5)) {
      case 0:
        x = make.relu6(x);
        break;
      case 1:
        x = make.sigmoid(x);
        break;
      case 2:
        x = make.swish(x);
        break;
      default:
        x = make.relu(x);
    }
    if (choose.chance(0.3))
      x = choose.chance(0.6) ? make.max_pool(x, 2, 2, 1) : make.average_pool(x, 3, 2, 1);
    channels = std::min<int64_t>(384, channels * choose.between(2, 5) / 2);
  }
  x = choose.chance(0.5) ? make.flatten(make.global_average(x)) : make.flatten(make.max_pool(x, 3, 3, 1));
  if (choose.chance(0.5)) x = make.relu(make.dense(x, choose.scaled(16, 512)));
  return make.softmax(make.dense(x, choose.scaled(2, 1000)));
}

Expr vary_dqn(Blocks& make) {
  Choice& choose = make.choose;
  const int64_t size = choose.scaled(60, 168, 4), width = choose.scaled(8, 64, 4);
  Expr x = make.image(choose.scaled(1, 32), choose.between(1, 6), size, size);
  x = make.relu(make.conv_bias(x, {.channels = width,
                                   .height = 8,
                                   .width = 8,
                                   .stride = choose.of<int64_t>({2, 4, 4}),
                                   .padded = false}));
  x = make.relu(
      make.conv_bias(x, {.channels = 2 * width, .height = 4, .width = 4, .stride = 2, .padded = false}));
  for (int64_t i = choose.between(1, 3); i > 0; --i)
    x = make.relu(make.conv_bias(x, {.channels = 2 * width, .padded = i > 1}));
  x = make.relu(make.dense(make.flatten(x), choose.scaled(64, 1024, 32)));
  return make.dense(x, choose.between(3, 18));
}

Expr vary_dcgan(Blocks& make) {
  Choice& choose = make.choose;
  const int64_t start = choose.of<int64_t>({3, 4, 4, 5, 6, 7, 8}), steps = choose.between(2, 4);
  int64_t filters = choose.scaled(64, 512, 32);
  const int64_t batch = choose.of<int64_t>({1, 1, 1, 2, 4});
  Expr x = make.relu(make.dense(make.input({batch, choose.scaled(32, 256)}), start * start * filters));
  x = make.reshape(x, {batch, filters, start, start});
  for (int64_t i = 0; i < steps; ++i) {
    filters = std::max<int64_t>(8, filters / 2);
    x = make.norm_relu(make.upsample(x, filters), filters);
  }
  return make.tanh(make.upsample(x, choose.of<int64_t>({1, 3, 3})));
}

Expr vary_mlp(Blocks& make) {
  Choice& choose = make.choose;
  Expr x = make.input({choose.scaled(1, 256), choose.scaled(64, 4096)});
  for (int64_t i = choose.between(2, 7); i > 0; --i) {
    x = make.dense(x, choose.scaled(48, 4096, choose.of<int64_t>({1, 4, 16, 16})));
    switch (choose.index(5)) {
      case 0:
        x = make.gelu(x);
        break;
      case 1:
        x = make.tanh(x);
        break;
      case 2:
        x = make.sigmoid(x);
        break;
      default:
        x = make.relu(x);
    }
  }
  return make.softmax(make.dense(x, choose.scaled(2, 1000)));
}

}  // namespace baton::variations
