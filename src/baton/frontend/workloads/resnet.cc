#include <map>

#include "baton/frontend/workloads/networks.h"

namespace baton::workloads {

namespace {

constexpr double kEpsilon = 2e-5;

struct Depths {
  bool bottleneck, small_image;
  std::vector<int> units;
  std::vector<int64_t> filters;  // before the first stage, then one per stage
};

Depths plan_of(int num_layers, int64_t height) {
  if (height <= 28) {
    const bool deep = num_layers >= 164 && (num_layers - 2) % 9 == 0;
    if (!deep && ((num_layers - 2) % 6 != 0 || num_layers >= 164))
      throw Error("a ResNet of " + std::to_string(num_layers) + " layers has no form for images of height " +
                  std::to_string(height) + "; use 6n+2 layers (below 164), or 9n+2 (from 164 on)");
    const int per_stage = (num_layers - 2) / (deep ? 9 : 6);
    return {deep,
            true,
            {per_stage, per_stage, per_stage},
            deep ? std::vector<int64_t>{16, 64, 128, 256} : std::vector<int64_t>{16, 16, 32, 64}};
  }
  static const std::map<int, std::vector<int>> kUnits = {
      {18, {2, 2, 2, 2}},   {34, {3, 4, 6, 3}},    {50, {3, 4, 6, 3}},   {101, {3, 4, 23, 3}},
      {152, {3, 8, 36, 3}}, {200, {3, 24, 36, 3}}, {269, {3, 30, 48, 8}}};
  const auto units = kUnits.find(num_layers);
  if (units == kUnits.end())
    throw Error("there is no ResNet of " + std::to_string(num_layers) +
                " layers; use 18, 34, 50, 101, 152, 200 or 269");
  const bool deep = num_layers >= 50;
  return {
      deep, false, units->second,
      deep ? std::vector<int64_t>{64, 256, 512, 1024, 2048} : std::vector<int64_t>{64, 64, 128, 256, 512}};
}

// One residual unit: batch norm and relu come before each convolution. `same`: the input is added as it is.
Expr unit(const Expr& data, const std::string& name, const ImageLayout& layout, int64_t filters,
          int64_t stride, bool same, bool bottleneck) {
  auto activated = [&](const Expr& x, const std::string& bn) {
    return relu(batch_norm(x, name + bn, layout, kEpsilon));
  };
  const std::vector<int64_t> strides{stride, stride};
  const Expr first = activated(data, "_bn1");
  Expr out;
  if (bottleneck) {
    const int64_t inner = filters / 4;
    Expr x =
        conv2d(first, name + "_conv1", layout, {.channels = inner, .kernel = {1, 1}, .strides = strides});
    x = conv2d(activated(x, "_bn2"), name + "_conv2", layout,
               {.channels = inner, .kernel = {3, 3}, .padding = {1, 1}});
    out = conv2d(activated(x, "_bn3"), name + "_conv3", layout, {.channels = filters, .kernel = {1, 1}});
  } else {
    const Expr x = conv2d(first, name + "_conv1", layout,
                          {.channels = filters, .kernel = {3, 3}, .strides = strides, .padding = {1, 1}});
    out = conv2d(activated(x, "_bn2"), name + "_conv2", layout,
                 {.channels = filters, .kernel = {3, 3}, .padding = {1, 1}});
  }
  const Expr shortcut =
      same ? data
           : conv2d(first, name + "_sc", layout, {.channels = filters, .kernel = {1, 1}, .strides = strides});
  return layer("add", {out, shortcut});
}

}  // namespace

IRModule resnet(int num_layers, const ImageNetOptions& options) {
  const ImageLayout layout{options.layout};
  layout.kernel(false);  // an unknown layout is refused here
  if (options.image_shape.size() != 3)
    throw Error("image_shape has " + std::to_string(options.image_shape.size()) + " extents; give 3");
  const int64_t height = options.image_shape[options.layout == "NCHW" ? 1 : 0];
  const Depths plan = plan_of(num_layers, height);
  Expr x = var("data", image_type(options.batch, options.image_shape, options.dtype));
  x = batch_norm(x, "bn_data", layout, kEpsilon, /*scale=*/false);
  if (plan.small_image) {
    x = conv2d(x, "conv0", layout, {.channels = plan.filters[0], .kernel = {3, 3}, .padding = {1, 1}});
  } else {
    x = conv2d(x, "conv0", layout,
               {.channels = plan.filters[0], .kernel = {7, 7}, .strides = {2, 2}, .padding = {3, 3}});
    x = relu(batch_norm(x, "bn0", layout, kEpsilon));
    x = layer("nn.max_pool2d", {x},
              {{"pool_size", std::vector<int64_t>{3, 3}},
               {"strides", std::vector<int64_t>{2, 2}},
               {"padding", std::vector<int64_t>{1, 1, 1, 1}},
               {"layout", layout.data}});
  }
  for (size_t stage = 0; stage < plan.units.size(); ++stage) {
    for (int i = 0; i < plan.units[stage]; ++i) {
      const std::string name = "stage" + std::to_string(stage + 1) + "_unit" + std::to_string(i + 1);
      x = unit(x, name, layout, plan.filters[stage + 1], i == 0 && stage > 0 ? 2 : 1, i > 0, plan.bottleneck);
    }
  }
  x = relu(batch_norm(x, "bn1", layout, kEpsilon));
  x = layer("nn.global_avg_pool2d", {x}, {{"layout", layout.data}});
  x = dense_bias(layer("nn.batch_flatten", {x}), "fc1", options.num_classes);
  return network(softmax(x));
}

}  // namespace baton::workloads
