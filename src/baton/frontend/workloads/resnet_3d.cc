// Pre-activation ResNets for video, as relay.testing.resnet_3d builds them.
#include "baton/frontend/workloads/networks.h"

namespace baton::workloads {

namespace {

constexpr double kVideoEpsilon = 2e-5;

Expr conv3d(const Expr& data, const std::string& name, int64_t channels, std::vector<int64_t> kernel,
            std::vector<int64_t> strides) {
  std::vector<int64_t> padding;
  for (int side = 0; side < 2; ++side)
    for (const int64_t extent : kernel) padding.push_back((extent - 1) / 2);
  return layer("nn.conv3d", {data, var(name + "_weight")},
               {{"channels", channels},
                {"kernel_size", std::move(kernel)},
                {"strides", std::move(strides)},
                {"padding", std::move(padding)}});
}

Expr activated(const Expr& data, const std::string& name) {
  return relu(batch_norm(data, name, ImageLayout(), kVideoEpsilon));
}

// Without a bottleneck. `same`: the input is added as it is.
Expr video_unit(const Expr& data, const std::string& name, int64_t filters, int64_t stride, bool same) {
  const std::vector<int64_t> window{3, 3, 3}, strides{stride, stride, stride};
  const Expr first = activated(data, name + "_bn1");
  const Expr middle = conv3d(first, name + "_conv1", filters, window, strides);
  const Expr out = conv3d(activated(middle, name + "_bn2"), name + "_conv2", filters, window, {1, 1, 1});
  return layer("add", {out, same ? data : conv3d(first, name + "_sc", filters, {1, 1, 1}, strides)});
}

}  // namespace

IRModule resnet_3d_18(const ImageNetOptions& options) {
  Expr x = var("data", image_type(options.batch, options.image_shape, options.dtype));
  x = batch_norm(x, "bn_data", ImageLayout(), kVideoEpsilon, /*scale=*/false);
  x = activated(conv3d(x, "conv0", 64, {3, 7, 7}, {1, 2, 2}), "bn0");
  x = layer("nn.max_pool3d", {x},
            {{"pool_size", std::vector<int64_t>{3, 3, 3}},
             {"strides", std::vector<int64_t>{2, 2, 2}},
             {"padding", std::vector<int64_t>{1, 1, 1, 1, 1, 1}}});
  for (int stage = 0; stage < 4; ++stage)
    for (int i = 0; i < 2; ++i)
      x = video_unit(x, "stage" + std::to_string(stage + 1) + "_unit" + std::to_string(i + 1),
                     int64_t{64} << stage, i == 0 && stage > 0 ? 2 : 1, i > 0);
  x = layer("nn.adaptive_avg_pool3d", {activated(x, "bn1")},
            {{"output_size", std::vector<int64_t>{1, 1, 1}}});
  return network(softmax(dense_bias(layer("nn.batch_flatten", {x}), "fc1", options.num_classes)));
}

}  // namespace baton::workloads
