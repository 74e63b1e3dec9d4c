#include "baton/frontend/variations/blocks.h"

#include <cmath>

#include "baton/ir/op.h"
#include "baton/ir/op_names.h"

namespace baton::variations {

namespace {

using workloads::layer;

constexpr double kEpsilon = 1e-5;

Expr scalar(double value) {
  NDArray array = NDArray::empty({}, DType::float_(32));
  array.as<float>()[0] = static_cast<float>(value);
  return constant(array);
}

}  // namespace

Expr Blocks::conv(const Expr& data, const Conv& conv) {
  const workloads::ImageLayout layout;
  const std::vector<int64_t> padding{conv.padded ? conv.height / 2 : 0, conv.padded ? conv.width / 2 : 0};
  return conv2d(data, next("conv"), layout,
                {.channels = conv.channels,
                 .kernel = {conv.height, conv.width},
                 .strides = {conv.stride, conv.stride},
                 .padding = padding,
                 .groups = conv.depthwise ? conv.channels : 1,
                 .depthwise = conv.depthwise});
}

Expr Blocks::conv_bias(const Expr& data, const Conv& conv) {
  return layer("nn.bias_add", {this->conv(data, conv), var(next("bias"))});
}

Expr Blocks::conv_norm(const Expr& data, const Conv& conv) {
  if (folded_) return conv_bias(data, conv);
  return norm(this->conv(data, conv));
}

Expr Blocks::norm(const Expr& data) {
  return workloads::batch_norm(data, next("norm"), workloads::ImageLayout(), kEpsilon);
}

Expr Blocks::norm_relu(const Expr& data, int64_t channels) {
  if (!folded_) return relu(norm(data));
  const Type type = tensor_type(std::vector<int64_t>{channels, 1, 1}, DType::float_(32));
  const Expr product = multiply(data, var(next("scale"), type));
  return relu(add(product, var(next("shift"), type)));
}

Expr Blocks::upsample(const Expr& data, int64_t channels) {
  return layer("nn.conv2d_transpose", {data, var(next("deconv") + "_weight")},
               {{"channels", channels},
                {"kernel_size", std::vector<int64_t>{4, 4}},
                {"strides", std::vector<int64_t>{2, 2}},
                {"padding", std::vector<int64_t>{1, 1, 1, 1}},
                {"kernel_layout", "IOHW"}});
}

Expr Blocks::dense(const Expr& data, int64_t units) {
  return workloads::dense_bias(data, next("dense"), units);
}
Expr Blocks::relu6(const Expr& x) { return layer("clip", {x}, {{"a_min", 0.0}, {"a_max", 6.0}}); }
Expr Blocks::sigmoid(const Expr& x) { return layer("sigmoid", {x}); }
Expr Blocks::tanh(const Expr& x) { return layer("tanh", {x}); }
Expr Blocks::swish(const Expr& x) { return multiply(x, sigmoid(x)); }
Expr Blocks::add(const Expr& a, const Expr& b) { return layer("add", {a, b}); }
Expr Blocks::multiply(const Expr& a, const Expr& b) { return layer("multiply", {a, b}); }
Expr Blocks::scaled(const Expr& x, double factor) { return multiply(x, scalar(factor)); }

Expr Blocks::gelu(const Expr& x) {
  const Expr inner = layer("erf", {scaled(x, std::sqrt(0.5))});
  return scaled(multiply(x, add(inner, scalar(1))), 0.5);
}

Expr Blocks::join(std::vector<Expr> parts) {
  if (parts.size() == 1) return parts[0];
  return layer("concatenate", {tuple(std::move(parts))}, {{"axis", int64_t{1}}});
}

Expr Blocks::max_pool(const Expr& x, int64_t size, int64_t stride, int64_t pad) {
  return layer("nn.max_pool2d", {x},
               {{"pool_size", std::vector<int64_t>{size, size}},
                {"strides", std::vector<int64_t>{stride, stride}},
                {"padding", std::vector<int64_t>{pad, pad, pad, pad}}});
}

Expr Blocks::average_pool(const Expr& x, int64_t size, int64_t stride, int64_t pad) {
  return layer("nn.avg_pool2d", {x},
               {{"pool_size", std::vector<int64_t>{size, size}},
                {"strides", std::vector<int64_t>{stride, stride}},
                {"padding", std::vector<int64_t>{pad, pad, pad, pad}}});
}

Expr Blocks::global_average(const Expr& x) { return layer("nn.global_avg_pool2d", {x}); }
Expr Blocks::flatten(const Expr& x) { return layer("nn.batch_flatten", {x}); }
Expr Blocks::reshape(const Expr& x, const std::vector<int64_t>& shape) {
  return layer("reshape", {x}, {{"newshape", shape}});
}
Expr Blocks::transpose(const Expr& x, const std::vector<int64_t>& axes) {
  return layer("transpose", {x}, {{"axes", axes}});
}
Expr Blocks::batch_matmul(const Expr& a, const Expr& b, bool transpose_b) {
  return layer(op_names::kBatchMatmul, {a, b}, {{"transpose_a", false}, {"transpose_b", transpose_b}});
}

Expr Blocks::layer_norm(const Expr& x, int64_t extent) {
  const std::string name = next("ln");
  const Type type = tensor_type(std::vector<int64_t>{extent}, DType::float_(32));
  const std::vector<std::pair<std::string, AttrValue>> last{{"axis", std::vector<int64_t>{-1}},
                                                            {"keepdims", true}};
  const Expr less = layer("subtract", {x, layer("mean", {x}, last)});
  const Expr spread = layer("mean", {multiply(less, less)}, last);
  const Expr made = layer("divide", {less, layer("sqrt", {add(spread, scalar(1e-5))})});
  return add(multiply(made, var(name + "_gamma", type)), var(name + "_beta", type));
}

Expr Blocks::classifier(const Expr& x, int64_t classes) {
  const Expr made = dense(flatten(global_average(x)), classes);
  return choose.chance(0.8) ? softmax(made) : made;
}

Expr Blocks::image(int64_t batch, int64_t channels, int64_t height, int64_t width) {
  return input({batch, channels, height, width});
}

Expr Blocks::input(const std::vector<int64_t>& shape) {
  return var("data", tensor_type(shape, DType::float_(32)));
}

}  // namespace baton::variations
