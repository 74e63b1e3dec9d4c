#include <utility>

#include "baton/frontend/workloads/networks.h"

namespace baton::workloads {

namespace {

struct Step {
  int64_t channels, height, width, stride = 1;
  bool padded = true;  // keeps the size of the image
};

Expr conv(const Expr& data, const std::string& name, const Step& step) {
  const ImageLayout layout;
  const std::vector<int64_t> padding{step.padded ? step.height / 2 : 0, step.padded ? step.width / 2 : 0};
  const Expr x = conv2d(data, name + "_conv1", layout,
                        {.channels = step.channels,
                         .kernel = {step.height, step.width},
                         .strides = {step.stride, step.stride},
                         .padding = padding});
  return relu(batch_norm(x, name + "_bn", layout, /*epsilon=*/2e-5, /*scale=*/false));
}

// Convolutions one after another: `<name>_conv`, `<name>_conv_1`, ...
Expr tower(Expr x, const std::string& name, const std::vector<Step>& steps) {
  for (size_t i = 0; i < steps.size(); ++i)
    x = conv(x, name + "_conv" + (i ? "_" + std::to_string(i) : ""), steps[i]);
  return x;
}

Expr max_pool(const Expr& x, int64_t stride, int64_t pad) {
  return layer("nn.max_pool2d", {x},
               {{"pool_size", std::vector<int64_t>{3, 3}},
                {"strides", std::vector<int64_t>{stride, stride}},
                {"padding", std::vector<int64_t>{pad, pad, pad, pad}}});
}

Expr average_pool(const Expr& x, int64_t size, int64_t pad) {
  return layer("nn.avg_pool2d", {x},
               {{"pool_size", std::vector<int64_t>{size, size}},
                {"padding", std::vector<int64_t>{pad, pad, pad, pad}},
                {"count_include_pad", true}});
}

Expr join(std::vector<Expr> towers) {
  return layer("concatenate", {tuple(std::move(towers))}, {{"axis", int64_t{1}}});
}

// The towers of each block are, in order: `<name>`, `<name>_tower`, `<name>_tower_1`, `<name>_tower_2`.
Expr pooled_tower(const Expr& pooled, const std::string& name, int64_t channels) {
  return tower(pooled, name + "_tower_2", {{channels, 1, 1}});
}

// Figure 5 of the paper: 5x5 and two 3x3 beside each other.
Expr block_a(const Expr& x, const std::string& name, int64_t pooled) {
  return join({tower(x, name, {{64, 1, 1}}), tower(x, name + "_tower", {{48, 1, 1}, {64, 5, 5}}),
               tower(x, name + "_tower_1", {{64, 1, 1}, {96, 3, 3}, {96, 3, 3}}),
               pooled_tower(average_pool(x, 3, 1), name, pooled)});
}

Expr reduction_b(const Expr& x, const std::string& name) {
  return join({tower(x, name, {{384, 3, 3, 2, false}}),
               tower(x, name + "_tower", {{64, 1, 1}, {96, 3, 3}, {96, 3, 3, 2, false}}), max_pool(x, 2, 0)});
}

// Figure 6: 7x7 as 1x7 and 7x1; `n` is the width inside the towers.
Expr block_c(const Expr& x, const std::string& name, int64_t n) {
  return join({tower(x, name, {{192, 1, 1}}), tower(x, name + "_tower", {{n, 1, 1}, {n, 1, 7}, {192, 7, 1}}),
               tower(x, name + "_tower_1", {{n, 1, 1}, {n, 7, 1}, {n, 1, 7}, {n, 7, 1}, {192, 1, 7}}),
               pooled_tower(average_pool(x, 3, 1), name, 192)});
}

Expr reduction_d(const Expr& x, const std::string& name) {
  return join({tower(x, name + "_tower", {{192, 1, 1}, {320, 3, 3, 2, false}}),
               tower(x, name + "_tower_1", {{192, 1, 1}, {192, 1, 7}, {192, 7, 1}, {192, 3, 3, 2, false}}),
               max_pool(x, 2, 0)});
}

// Figure 7: the last convolutions of two towers are split into 1x3 and 3x1.
Expr block_e(const Expr& x, const std::string& name, const Expr& pooled) {
  const Expr single = tower(x, name + "_tower", {{384, 1, 1}});
  const Expr twice = tower(x, name + "_tower_1", {{448, 1, 1}, {384, 3, 3}});
  return join({tower(x, name, {{320, 1, 1}}), conv(single, name + "_tower_mixed_conv", {384, 1, 3}),
               conv(single, name + "_tower_mixed_conv_1", {384, 3, 1}),
               conv(twice, name + "_tower_1_mixed_conv", {384, 1, 3}),
               conv(twice, name + "_tower_1_mixed_conv_1", {384, 3, 1}), pooled_tower(pooled, name, 192)});
}

}  // namespace

// Szegedy et al., "Rethinking the Inception Architecture for Computer Vision", 2015, without the auxiliary
// classifier; the last block takes the maximum where the paper takes the average, as relay.testing does.
IRModule inception_v3(const ImageNetOptions& options) {
  Expr x = var("data", image_type(options.batch, options.image_shape, options.dtype));
  x = conv(x, "conv", {32, 3, 3, 2, false});
  x = conv(x, "conv_1", {32, 3, 3, 1, false});
  x = max_pool(conv(x, "conv_2", {64, 3, 3}), 2, 0);
  x = conv(x, "conv_3", {80, 1, 1});
  x = max_pool(conv(x, "conv_4", {192, 3, 3, 1, false}), 2, 0);
  for (const auto& [name, pooled] :
       {std::pair{"mixed", 32}, std::pair{"mixed_1", 64}, std::pair{"mixed_2", 64}})
    x = block_a(x, name, pooled);
  x = reduction_b(x, "mixed_3");
  for (const auto& [name, inner] : {std::pair{"mixed_4", 128}, std::pair{"mixed_5", 160},
                                    std::pair{"mixed_6", 160}, std::pair{"mixed_7", 192}})
    x = block_c(x, name, inner);
  x = reduction_d(x, "mixed_8");
  x = block_e(x, "mixed_9", average_pool(x, 3, 1));
  x = block_e(x, "mixed_10", max_pool(x, 1, 1));
  x = layer("nn.batch_flatten", {average_pool(x, 8, 0)});
  // The names of weight and bias differ in relay.testing too.
  x = layer("nn.dense", {x, var("fc1_weight")}, {{"units", options.num_classes}});
  return network(softmax(layer("nn.bias_add", {x, var("fc2_bias")}, {{"axis", int64_t{-1}}})));
}

}  // namespace baton::workloads
