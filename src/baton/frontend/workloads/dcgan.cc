// The generator of DCGAN (Radford, Metz, Chintala 2015), as relay.testing.dcgan builds it.
#include "baton/frontend/workloads/networks.h"

namespace baton::workloads {

namespace {

// Doubles height and width.
Expr upsampled(const Expr& data, const std::string& name, const ImageLayout& layout, int64_t channels) {
  return layer("nn.conv2d_transpose", {data, var(name + "_weight")},
               {{"channels", channels},
                {"kernel_size", std::vector<int64_t>{4, 4}},
                {"strides", std::vector<int64_t>{2, 2}},
                {"padding", std::vector<int64_t>{1, 1, 1, 1}},
                {"data_layout", layout.data},
                {"kernel_layout", layout.data == "NCHW" ? "IOHW" : "HWOI"}});
}

}  // namespace

IRModule dcgan(const DcganOptions& options) {
  const int64_t filters = options.filters;
  const ImageLayout layout{options.layout};
  layout.kernel(false);  // an unknown layout is refused here
  Expr x =
      options.code ? options.code : var("data", image_type(options.batch, {options.noise}, options.dtype));
  x = relu(layer("nn.dense", {x, var("dense_weight")}, {{"units", 4 * 4 * filters * 8}}));
  x = layer("reshape", {x},
            {{"newshape", layout.data == "NCHW" ? std::vector<int64_t>{-1, filters * 8, 4, 4}
                                                : std::vector<int64_t>{-1, 4, 4, filters * 8}}});
  for (int i = 0; i < 3; ++i) {
    const std::string name = "g" + std::to_string(i + 2);
    x = upsampled(x, name + "_deconv", layout, filters * 4 >> i);
    x = relu(batch_norm(x, name + "_batch_norm", layout, /*epsilon=*/1e-5, /*scale=*/false));
  }
  return network(layer("tanh", {upsampled(x, "g5_deconv", layout, options.channels)}));
}

}  // namespace baton::workloads
