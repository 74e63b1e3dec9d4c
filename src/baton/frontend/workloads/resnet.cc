#include "baton/frontend/workloads/networks.h"
#include "baton/frontend/workloads/resnet_plan.h"

namespace baton::workloads {

namespace {

constexpr double kEpsilon = 2e-5;

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
  const ResNetPlan plan = resnet_plan(num_layers, height);
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
