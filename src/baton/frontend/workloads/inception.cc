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
  const Expr x = conv2d(data, name + "_conv", layout,
                        {.channels = step.channels,
                         .kernel = {step.height, step.width},
                         .strides = {step.stride, step.stride},
                         .padding = padding});
  return relu(batch_norm(x, name + "_bn", layout, /*epsilon=*/1e-3));
}

// Convolutions one after another: `<name>_1`, `<name>_2`, ...
Expr tower(Expr x, const std::string& name, const std::vector<Step>& steps) {
  for (size_t i = 0; i < steps.size(); ++i) x = conv(x, name + "_" + std::to_string(i + 1), steps[i]);
  return x;
}

Expr pool(const Expr& x, const char* op, int64_t stride, int64_t pad) {
  return layer(op, {x},
               {{"pool_size", std::vector<int64_t>{3, 3}},
                {"strides", std::vector<int64_t>{stride, stride}},
                {"padding", std::vector<int64_t>{pad, pad, pad, pad}}});
}

Expr join(std::vector<Expr> towers) {
  return layer("concatenate", {tuple(std::move(towers))}, {{"axis", int64_t{1}}});
}

Expr averaged(const Expr& x, const std::string& name, int64_t channels) {
  return tower(pool(x, "nn.avg_pool2d", 1, 1), name + "_pool", {{channels, 1, 1}});
}

// Figure 5 of the paper: 5x5 and two 3x3 beside each other.
Expr block_a(const Expr& x, const std::string& name, int64_t pooled) {
  return join({tower(x, name + "_1x1", {{64, 1, 1}}), tower(x, name + "_5x5", {{48, 1, 1}, {64, 5, 5}}),
               tower(x, name + "_3x3", {{64, 1, 1}, {96, 3, 3}, {96, 3, 3}}), averaged(x, name, pooled)});
}

Expr reduction_b(const Expr& x, const std::string& name) {
  return join({tower(x, name + "_3x3", {{384, 3, 3, 2, false}}),
               tower(x, name + "_double", {{64, 1, 1}, {96, 3, 3}, {96, 3, 3, 2, false}}),
               pool(x, "nn.max_pool2d", 2, 0)});
}

// Figure 6: 7x7 as 1x7 and 7x1; `n` is the width inside the towers.
Expr block_c(const Expr& x, const std::string& name, int64_t n) {
  return join({tower(x, name + "_1x1", {{192, 1, 1}}),
               tower(x, name + "_7x7", {{n, 1, 1}, {n, 1, 7}, {192, 7, 1}}),
               tower(x, name + "_double", {{n, 1, 1}, {n, 7, 1}, {n, 1, 7}, {n, 7, 1}, {192, 1, 7}}),
               averaged(x, name, 192)});
}

Expr reduction_d(const Expr& x, const std::string& name) {
  return join({tower(x, name + "_3x3", {{192, 1, 1}, {320, 3, 3, 2, false}}),
               tower(x, name + "_7x7", {{192, 1, 1}, {192, 1, 7}, {192, 7, 1}, {192, 3, 3, 2, false}}),
               pool(x, "nn.max_pool2d", 2, 0)});
}

// Figure 7: the last convolutions of two towers are split into 1x3 and 3x1.
Expr block_e(const Expr& x, const std::string& name) {
  const Expr single = tower(x, name + "_3x3", {{384, 1, 1}});
  const Expr twice = tower(x, name + "_double", {{448, 1, 1}, {384, 3, 3}});
  return join({tower(x, name + "_1x1", {{320, 1, 1}}), conv(single, name + "_3x3_1x3", {384, 1, 3}),
               conv(single, name + "_3x3_3x1", {384, 3, 1}), conv(twice, name + "_double_1x3", {384, 1, 3}),
               conv(twice, name + "_double_3x1", {384, 3, 1}), averaged(x, name, 192)});
}

}  // namespace

// Szegedy et al., "Rethinking the Inception Architecture for Computer Vision", 2015, without the auxiliary
// classifier.
IRModule inception_v3(const ImageNetOptions& options) {
  Expr x = var("data", image_type(options.batch, options.image_shape, options.dtype));
  x = tower(x, "stem", {{32, 3, 3, 2, false}, {32, 3, 3, 1, false}, {64, 3, 3}});
  x = pool(x, "nn.max_pool2d", 2, 0);
  x = tower(x, "stem_late", {{80, 1, 1}, {192, 3, 3, 1, false}});
  x = pool(x, "nn.max_pool2d", 2, 0);
  for (const auto& [name, pooled] :
       {std::pair{"mixed1", 32}, std::pair{"mixed2", 64}, std::pair{"mixed3", 64}})
    x = block_a(x, name, pooled);
  x = reduction_b(x, "mixed4");
  for (const auto& [name, inner] : {std::pair{"mixed5", 128}, std::pair{"mixed6", 160},
                                    std::pair{"mixed7", 160}, std::pair{"mixed8", 192}})
    x = block_c(x, name, inner);
  x = reduction_d(x, "mixed9");
  x = block_e(block_e(x, "mixed10"), "mixed11");
  x = layer("nn.batch_flatten", {layer("nn.global_avg_pool2d", {x})});
  return network(softmax(dense_bias(x, "fc1", options.num_classes)));
}

}  // namespace baton::workloads
