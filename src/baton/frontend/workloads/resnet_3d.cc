// Pre-activation ResNets for video, as relay.testing.resnet_3d builds them.
#include "baton/frontend/workloads/networks.h"
#include "baton/frontend/workloads/resnet_plan.h"

namespace baton::workloads {

namespace {

constexpr double kVideoEpsilon = 2e-5;
using Window = std::vector<int64_t>;

// Zero padding keeps the extents of an odd kernel.
Expr conv3d(const Expr& data, const std::string& name, const ImageLayout& layout, int64_t channels,
            const Window& kernel, const Window& strides) {
  Window padding;
  for (int side = 0; side < 2; ++side)
    for (const int64_t extent : kernel) padding.push_back((extent - 1) / 2);
  return layer("nn.conv3d", {data, var(name + "_weight")},
               {{"channels", channels},
                {"kernel_size", kernel},
                {"strides", strides},
                {"padding", padding},
                {"data_layout", layout.data},
                {"kernel_layout", layout.data == "NCDHW" ? "OIDHW" : "DHWIO"}});
}

Expr activated(const Expr& data, const std::string& name, const ImageLayout& layout) {
  return relu(batch_norm(data, name, layout, kVideoEpsilon));
}

// One residual unit. `same`: the input is added as it is.
Expr video_unit(const Expr& data, const std::string& name, const ImageLayout& layout, int64_t filters,
                int64_t stride, bool same, bool bottleneck) {
  const Window one{1, 1, 1}, three{3, 3, 3}, strides{stride, stride, stride};
  const Expr first = activated(data, name + "_bn1", layout);
  Expr x = conv3d(first, name + "_conv1", layout, bottleneck ? filters / 4 : filters,
                  bottleneck ? one : three, strides);
  x = conv3d(activated(x, name + "_bn2", layout), name + "_conv2", layout, bottleneck ? filters / 4 : filters,
             three, one);
  if (bottleneck) x = conv3d(activated(x, name + "_bn3", layout), name + "_conv3", layout, filters, one, one);
  return layer("add", {x, same ? data : conv3d(first, name + "_sc", layout, filters, one, strides)});
}

}  // namespace

IRModule resnet_3d(int num_layers, const ImageNetOptions& options) {
  const ImageLayout layout{options.layout};
  if (layout.data != "NCDHW" && layout.data != "NDHWC")
    throw Error("layout \"" + layout.data +
                "\" is not one of networks for video; use \"NCDHW\" or \"NDHWC\"");
  if (options.image_shape.size() != 4)
    throw Error("image_shape has " + std::to_string(options.image_shape.size()) +
                " extents; give 4: channels, time, height, width");
  const ResNetPlan plan = resnet_plan(num_layers, options.image_shape[layout.data == "NCDHW" ? 2 : 1]);
  Expr x = var("data", image_type(options.batch, options.image_shape, options.dtype));
  x = batch_norm(x, "bn_data", layout, kVideoEpsilon, /*scale=*/false);
  if (plan.small_image) {
    x = conv3d(x, "conv0", layout, plan.filters[0], {3, 3, 3}, {1, 1, 1});
  } else {
    x = activated(conv3d(x, "conv0", layout, plan.filters[0], {3, 7, 7}, {1, 2, 2}), "bn0", layout);
  }
  for (size_t stage = 0; stage < plan.units.size(); ++stage)
    for (int i = 0; i < plan.units[stage]; ++i)
      x = video_unit(x, "stage" + std::to_string(stage + 1) + "_unit" + std::to_string(i + 1), layout,
                     plan.filters[stage + 1], i == 0 && stage > 0 ? 2 : 1, i > 0, plan.bottleneck);
  x = layer("nn.adaptive_avg_pool3d", {activated(x, "bn1", layout)},
            {{"output_size", std::vector<int64_t>{1, 1, 1}}, {"layout", layout.data}});
  return network(softmax(dense_bias(layer("nn.batch_flatten", {x}), "fc1", options.num_classes)));
}

}  // namespace baton::workloads
