// The generator of DCGAN (Radford, Metz, Chintala 2015), as relay.testing.dcgan builds it.
#include "baton/frontend/workloads/networks.h"

namespace baton::workloads {

namespace {

constexpr double kGeneratorEpsilon = 1e-5 + 1e-12;

// Doubles height and width.
Expr upsampled(const Expr& data, const std::string& name, int64_t channels) {
  return layer("nn.conv2d_transpose", {data, var(name + "_weight")},
               {{"channels", channels},
                {"kernel_size", std::vector<int64_t>{4, 4}},
                {"strides", std::vector<int64_t>{2, 2}},
                {"padding", std::vector<int64_t>{1, 1, 1, 1}},
                {"kernel_layout", "IOHW"}});
}

}  // namespace

IRModule dcgan(const DcganOptions& options) {
  const int64_t filters = options.filters;
  const ImageLayout layout;
  Expr x = var("data", image_type(options.batch, {options.noise}, options.dtype));
  x = relu(dense_bias(x, "dense", 4 * 4 * filters * 8));
  x = layer("reshape", {x}, {{"newshape", std::vector<int64_t>{-1, filters * 8, 4, 4}}});
  for (int i = 0; i < 3; ++i) {
    const std::string name = "g" + std::to_string(i + 2);
    x = upsampled(x, name + "_deconv", filters * 4 >> i);
    x = relu(batch_norm(x, name + "_batch_norm", layout, kGeneratorEpsilon, /*scale=*/false));
  }
  return network(layer("tanh", {upsampled(x, "g5_deconv", options.channels)}));
}

}  // namespace baton::workloads
