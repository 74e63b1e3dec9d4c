// Residual networks: pre-activation (He et al. 2016), and post-activation with the stride in the 3x3
// convolution, as most libraries have it.
#include "baton/frontend/variations/blocks.h"

namespace baton::variations {

namespace {

struct Plan {
  int64_t width, growth;  ///< filters of the first stage; of the next relative to it
  int stages, units;
  bool bottleneck;
};

Plan plan_of(Choice& choose) {
  return {choose.scaled(8, 96, 4), choose.of<int64_t>({1, 2, 2, 2}), static_cast<int>(choose.between(2, 4)),
          static_cast<int>(choose.between(1, 3)), choose.chance(0.4)};
}

Expr stem(Blocks& make, int64_t width, bool normalised) {
  const int64_t size = make.choose.scaled(24, 256, make.choose.of<int64_t>({1, 8, 8, 16}));
  const int64_t batch = make.choose.of<int64_t>({1, 1, 1, 1, 2, 4});
  Expr x = make.image(batch, 3, size, size);
  const bool small = size < 64;
  const int64_t window = small ? 3 : make.choose.of<int64_t>({3, 5, 7, 7});
  const Blocks::Conv conv{.channels = width, .height = window, .width = window, .stride = small ? 1 : 2};
  x = normalised ? make.conv_norm_relu(x, conv) : make.conv(x, conv);
  return small ? x : make.max_pool(x, 3, 2, 1);
}

Expr pre_unit(Blocks& make, const Expr& x, int64_t in, int64_t out, int64_t stride, bool bottleneck) {
  const Expr first = make.norm_relu(x, in);
  const Expr shortcut = in == out && stride == 1
                            ? x
                            : make.conv(first, {.channels = out, .height = 1, .width = 1, .stride = stride});
  if (!bottleneck) {
    const Expr y = make.conv_norm_relu(first, {.channels = out, .stride = stride});
    return make.add(make.conv(y, {.channels = out}), shortcut);
  }
  const int64_t inner = std::max<int64_t>(4, out / 4);
  Expr y = make.conv_norm_relu(first, {.channels = inner, .height = 1, .width = 1, .stride = stride});
  y = make.conv_norm_relu(y, {.channels = inner});
  return make.add(make.conv(y, {.channels = out, .height = 1, .width = 1}), shortcut);
}

Expr post_unit(Blocks& make, const Expr& x, int64_t in, int64_t out, int64_t stride, bool bottleneck) {
  const Expr shortcut = in == out && stride == 1
                            ? x
                            : make.conv_norm(x, {.channels = out, .height = 1, .width = 1, .stride = stride});
  Expr y;
  if (bottleneck) {
    const int64_t inner = std::max<int64_t>(4, out / 4);
    y = make.conv_norm_relu(x, {.channels = inner, .height = 1, .width = 1});
    y = make.conv_norm_relu(y, {.channels = inner, .stride = stride});
    y = make.conv_norm(y, {.channels = out, .height = 1, .width = 1});
  } else {
    y = make.conv_norm_relu(x, {.channels = out, .stride = stride});
    y = make.conv_norm(y, {.channels = out});
  }
  return make.relu(make.add(y, shortcut));
}

Expr residual(Blocks& make, bool pre_activation) {
  const Plan plan = plan_of(make.choose);
  int64_t channels = plan.width;
  Expr x = stem(make, channels, !pre_activation);
  int64_t out = plan.bottleneck ? 4 * plan.width : plan.width;
  for (int stage = 0; stage < plan.stages; ++stage) {
    for (int i = 0; i < plan.units; ++i) {
      const int64_t stride = i == 0 && stage > 0 ? 2 : 1;
      x = pre_activation ? pre_unit(make, x, channels, out, stride, plan.bottleneck)
                         : post_unit(make, x, channels, out, stride, plan.bottleneck);
      channels = out;
    }
    out *= plan.growth;
  }
  if (pre_activation) x = make.norm_relu(x, channels);
  return make.classifier(x, make.choose.scaled(10, 1000));
}

}  // namespace

Expr vary_resnet(Blocks& make) { return residual(make, true); }
Expr vary_resnet_v15(Blocks& make) { return residual(make, false); }

}  // namespace baton::variations
