#pragma once
// The layers of the workload networks, with the parameter names of relay.testing.
#include <string>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/ir/module.h"

namespace baton::workloads {

/// The data layout of a network, NCHW or NHWC (NCDHW or NDHWC for video), and the weight layouts for it.
struct ImageLayout {
  std::string data = "NCHW";
  int64_t channel_axis() const { return data.starts_with("NC") ? 1 : static_cast<int64_t>(data.size()) - 1; }
  /// OIHW for NCHW; for NHWC HWIO, or HWOI for depthwise convolutions. Error for other layouts.
  std::string kernel(bool depthwise) const;
};

struct ConvOptions {
  int64_t channels = 0;
  std::vector<int64_t> kernel, strides = {1, 1}, padding = {0, 0};
  int64_t groups = 1;
  bool depthwise = false;  ///< groups == channels: the weight's shape cannot be inferred, so it is annotated
  DType dtype = DType::float_(32);  ///< of a depthwise weight
};

/// A call with the named attributes; the others keep their defaults.
Expr layer(const std::string& op, std::vector<Expr> args,
           const std::vector<std::pair<std::string, AttrValue>>& attrs = {});

/// nn.conv2d of `data` with a parameter `<name>_weight`, whose type is inferred unless depthwise.
Expr conv2d(const Expr& data, const std::string& name, const ImageLayout& layout, const ConvOptions& options);
/// conv2d with a parameter `<name>_bias` added.
Expr conv2d_bias(const Expr& data, const std::string& name, const ImageLayout& layout,
                 const ConvOptions& options);
/// The first result of nn.batch_norm with parameters `<name>_gamma`, `_beta`, `_moving_mean`, `_moving_var`.
Expr batch_norm(const Expr& data, const std::string& name, const ImageLayout& layout, double epsilon = 1e-5,
                bool scale = true);
/// nn.bias_add(nn.dense(data, `<name>_weight`), `<name>_bias`, axis).
Expr dense_bias(const Expr& data, const std::string& name, int64_t units, int64_t bias_axis = -1);
Expr relu(const Expr& data);
Expr softmax(const Expr& data);

/// The module whose main takes the free variables of `body` in the order of their use. Types are not
/// inferred.
IRModule network(const Expr& body);

/// `shape` (of channels, height, width, or height, width, channels for NHWC) with the batch in front.
Type image_type(int64_t batch, const std::vector<int64_t>& shape, DType dtype);

}  // namespace baton::workloads
