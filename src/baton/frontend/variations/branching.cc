// Networks whose layers branch and join: DenseNet (Huang et al. 2017), SqueezeNet (Iandola et al. 2016),
// Inception (Szegedy et al. 2015).
#include "baton/frontend/variations/blocks.h"

namespace baton::variations {

namespace {

Expr stem(Blocks& make, int64_t channels) {
  const int64_t size = make.choose.scaled(48, 224, make.choose.of<int64_t>({1, 8, 16}));
  const int64_t window = make.choose.of<int64_t>({3, 5, 7});
  const Expr x = make.image(make.choose.of<int64_t>({1, 1, 1, 2}), 3, size, size);
  return make.max_pool(
      make.conv_norm_relu(x, {.channels = channels, .height = window, .width = window, .stride = 2}), 3, 2,
      1);
}

Expr fire(Blocks& make, const Expr& data, int64_t squeezed, int64_t expanded) {
  const Expr x = make.relu(make.conv_bias(data, {.channels = squeezed, .height = 1, .width = 1}));
  return make.join({make.relu(make.conv_bias(x, {.channels = expanded, .height = 1, .width = 1})),
                    make.relu(make.conv_bias(x, {.channels = expanded}))});
}

/// Convolutions of height x width, the last with `out` channels.
Expr tower(Blocks& make, Expr x, int64_t inner, int64_t out,
           const std::vector<std::pair<int64_t, int64_t>>& windows) {
  for (size_t i = 0; i < windows.size(); ++i)
    x = make.conv_norm_relu(x, {.channels = i + 1 == windows.size() ? out : inner,
                                .height = windows[i].first,
                                .width = windows[i].second});
  return x;
}

}  // namespace

Expr vary_densenet(Blocks& make) {
  Choice& choose = make.choose;
  const int64_t growth = choose.scaled(8, 48, 4);
  int64_t channels = 2 * growth;
  Expr x = stem(make, channels);
  const auto blocks = choose.between(2, 3);
  for (int64_t block = 0; block < blocks; ++block) {
    const auto units = choose.between(2, 5);
    for (int64_t i = 0; i < units; ++i) {
      Expr y =
          make.conv_norm_relu(make.norm_relu(x, channels), {.channels = 4 * growth, .height = 1, .width = 1});
      x = make.join({x, make.conv(y, {.channels = growth})});
      channels += growth;
    }
    if (block + 1 == blocks) break;
    const int64_t less = channels / 2;
    x = make.conv(make.norm_relu(x, channels), {.channels = less, .height = 1, .width = 1});
    x = make.average_pool(x, 2, 2, 0);
    channels = less;
  }
  return make.classifier(make.norm_relu(x, channels), choose.scaled(10, 1000));
}

Expr vary_squeezenet(Blocks& make) {
  Choice& choose = make.choose;
  int64_t squeezed = choose.scaled(8, 32, 4);
  Expr x = stem(make, choose.scaled(32, 96, 8));
  const auto groups = choose.between(2, 4);
  for (int64_t group = 0; group < groups; ++group) {
    for (int64_t i = choose.between(1, 3); i > 0; --i)
      x = fire(make, x, squeezed, squeezed * choose.of<int64_t>({2, 4, 4}));
    if (group + 1 < groups && group < 2) x = make.max_pool(x, 3, 2, 1);
    squeezed += choose.of<int64_t>({8, 16, 16});
  }
  x = make.relu(make.conv_bias(x, {.channels = choose.scaled(10, 1000), .height = 1, .width = 1}));
  return make.softmax(make.flatten(make.global_average(x)));
}

Expr vary_inception(Blocks& make) {
  Choice& choose = make.choose;
  int64_t width = choose.scaled(16, 64, 8);
  Expr x = stem(make, choose.scaled(24, 96, 8));
  const auto stages = choose.between(2, 3);
  for (int64_t stage = 0; stage < stages; ++stage) {
    for (int64_t i = choose.between(1, 2); i > 0; --i) {
      const int64_t inner = std::max<int64_t>(8, width * choose.between(2, 5) / 4 / 8 * 8);
      std::vector<Expr> towers{tower(make, x, width, width, {{1, 1}})};
      if (choose.chance(0.6)) towers.push_back(tower(make, x, inner, width, {{1, 1}, {5, 5}}));
      if (choose.chance(0.5)) towers.push_back(tower(make, x, inner, width, {{1, 1}, {1, 7}, {7, 1}}));
      towers.push_back(tower(make, x, inner, width + 16, {{1, 1}, {3, 3}, {3, 3}}));
      towers.push_back(tower(make,
                             choose.chance(0.5) ? make.average_pool(x, 3, 1, 1) : make.max_pool(x, 3, 1, 1),
                             width, std::max<int64_t>(8, width / 2 / 8 * 8), {{1, 1}}));
      x = make.join(std::move(towers));
    }
    if (stage + 1 == stages) break;
    x = make.join({make.conv_norm_relu(x, {.channels = 2 * width, .stride = 2}), make.max_pool(x, 3, 2, 1)});
    width += choose.of<int64_t>({16, 32});
  }
  return make.classifier(x, choose.scaled(10, 1000));
}

}  // namespace baton::variations
