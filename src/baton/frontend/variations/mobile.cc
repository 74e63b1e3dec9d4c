// Networks of depthwise convolutions: MobileNet v1 (Howard et al. 2017) and v2 (Sandler et al. 2018),
// EfficientNet (Tan and Le 2019).
#include "baton/frontend/variations/blocks.h"

namespace baton::variations {

namespace {

Expr first_conv(Blocks& make, int64_t channels, bool swish) {
  const int64_t size = make.choose.scaled(48, 256, make.choose.of<int64_t>({1, 8, 16, 32}));
  const Expr x = make.image(make.choose.of<int64_t>({1, 1, 1, 2, 4}), 3, size, size);
  const Expr y = make.conv_norm(x, {.channels = channels, .stride = 2});
  return swish ? make.swish(y) : make.relu6(y);
}

struct Inverted {
  int64_t in, out, expansion, window, stride;
  bool excited = false, swish = false;
};

/// The channels are scaled by what a small network makes of their averages.
Expr excited(Blocks& make, const Expr& x, int64_t channels, int64_t inner) {
  Expr y = make.conv_bias(make.global_average(x), {.channels = inner, .height = 1, .width = 1});
  y = make.conv_bias(make.swish(y), {.channels = channels, .height = 1, .width = 1});
  return make.multiply(x, make.sigmoid(y));
}

Expr inverted(Blocks& make, const Expr& x, const Inverted& block) {
  const auto activated = [&](const Expr& y) { return block.swish ? make.swish(y) : make.relu6(y); };
  const int64_t wide = block.in * block.expansion;
  Expr y = x;
  if (block.expansion > 1) y = activated(make.conv_norm(y, {.channels = wide, .height = 1, .width = 1}));
  y = activated(make.conv_norm(y, {.channels = wide,
                                   .height = block.window,
                                   .width = block.window,
                                   .stride = block.stride,
                                   .depthwise = true}));
  if (block.excited) y = excited(make, y, wide, std::max<int64_t>(2, block.in / 4));
  y = make.conv_norm(y, {.channels = block.out, .height = 1, .width = 1});
  return block.stride == 1 && block.in == block.out ? make.add(x, y) : y;
}

Expr inverted_network(Blocks& make, bool efficient) {
  Choice& choose = make.choose;
  int64_t channels = choose.scaled(8, 48, 4);
  Expr x = first_conv(make, channels, efficient);
  const int64_t expansion = choose.of<int64_t>({2, 3, 4, 6, 6});
  const auto stages = choose.between(2, 5);
  for (int64_t stage = 0; stage < stages; ++stage) {
    const int64_t out = std::min<int64_t>(320, channels * choose.between(5, 9) / 4 / 4 * 4);
    const int64_t units = choose.between(1, 3), window = efficient ? choose.of<int64_t>({3, 5, 5, 7}) : 3;
    for (int64_t i = 0; i < units; ++i) {
      x = inverted(make, x,
                   {.in = channels,
                    .out = std::max<int64_t>(8, out),
                    .expansion = stage == 0 && i == 0 ? 1 : expansion,
                    .window = window,
                    .stride = i == 0 && stage > 0 ? choose.of<int64_t>({1, 2, 2, 2}) : 1,
                    .excited = efficient,
                    .swish = efficient});
      channels = std::max<int64_t>(8, out);
    }
  }
  x = make.conv_norm(x, {.channels = choose.scaled(128, 1280, 16), .height = 1, .width = 1});
  return make.classifier(efficient ? make.swish(x) : make.relu6(x), choose.scaled(10, 1000));
}

}  // namespace

Expr vary_mobilenet(Blocks& make) {
  Choice& choose = make.choose;
  int64_t channels = choose.scaled(8, 64, 4);
  const int64_t window = choose.of<int64_t>({3, 3, 3, 5});
  Expr x = make.relu(first_conv(make, channels, false));
  const auto stages = choose.between(2, 5);
  for (int64_t stage = 0; stage < stages; ++stage) {
    const int64_t out = std::min<int64_t>(1024, channels * 2), units = choose.between(1, 3);
    for (int64_t i = 0; i < units; ++i) {
      const int64_t stride = i == 0 && stage > 0 ? 2 : 1;
      x = make.conv_norm_relu(
          x, {.channels = channels, .height = window, .width = window, .stride = stride, .depthwise = true});
      x = make.conv_norm_relu(x, {.channels = out, .height = 1, .width = 1});
      channels = out;
    }
  }
  return make.classifier(x, choose.scaled(10, 1000));
}

Expr vary_mobilenet_v2(Blocks& make) { return inverted_network(make, false); }
Expr vary_efficientnet(Blocks& make) { return inverted_network(make, true); }

}  // namespace baton::variations
