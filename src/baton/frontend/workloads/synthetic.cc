// A network for tests, as relay.testing.synthetic builds it: each half adds what a dense layer makes of the
// last axis to what a convolution makes of the channels.
#include "baton/frontend/workloads/networks.h"

namespace baton::workloads {

namespace {

// relu(dense(x)) + softmax(conv2d(x)), both of the shape of `like`.
Expr half(const Expr& x, const Expr& like, const std::string& number, const SyntheticOptions& options) {
  const int64_t channels = options.input_shape[1], width = options.input_shape[3];
  const Expr dense_weight = var("dense" + number + "_weight",
                                tensor_type(std::vector<int64_t>{width, width}, options.weight_dtype));
  const Expr conv_weight =
      var("conv" + number + "_weight",
          tensor_type(std::vector<int64_t>{channels, channels, 3, 3}, options.weight_dtype));
  const Expr rows = layer("reshape", {x}, {{"newshape", std::vector<int64_t>{-1, width}}});
  const Expr dense = relu(layer("nn.dense", {rows, dense_weight}, {{"units", AttrValue()}}));
  const Expr convolved =
      layer("nn.conv2d", {x, conv_weight},
            {{"padding", std::vector<int64_t>{1, 1, 1, 1}}, {"kernel_size", std::vector<int64_t>{3, 3}}});
  return layer("add", {layer("reshape_like", {dense, like}), softmax(convolved)});
}

}  // namespace

IRModule synthetic(const SyntheticOptions& options) {
  if (options.input_shape.size() != 4)
    throw Error("input_shape has " + std::to_string(options.input_shape.size()) +
                " extents; give 4: batch, channels, height, width");
  const Expr data = var("data", tensor_type(options.input_shape, options.dtype));
  Expr x = layer("nn.bias_add", {half(data, data, "", options), var("bias")});
  x = batch_norm(x, "batch_norm", ImageLayout());
  return network(half(x, data, "2", options));
}

}  // namespace baton::workloads
