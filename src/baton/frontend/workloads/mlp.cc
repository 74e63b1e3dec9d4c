#include "baton/frontend/workloads/networks.h"

namespace baton::workloads {

IRModule mlp(const ImageNetOptions& options) {
  Expr x =
      layer("nn.batch_flatten", {var("data", image_type(options.batch, options.image_shape, options.dtype))});
  x = relu(dense_bias(x, "fc1", 128));
  x = relu(dense_bias(x, "fc2", 64));
  x = dense_bias(x, "fc3", options.num_classes);
  return network(softmax(x));
}

}  // namespace baton::workloads
