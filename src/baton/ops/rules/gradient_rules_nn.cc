// Gradients of the layers of neural networks.
#include "baton/ir/op_names.h"
#include "baton/ops/nn/pool/pool_attrs.h"
#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/rules/gradient_rules.h"
#include "baton/ops/shared/conv_attrs.h"

namespace baton {

using namespace gradients;

GradientRule bias_add_gradient() {
  return {[](const Call& call, const Expr& g) {
    const Expr bias = op(
        "sum", {g}, {{"axis", AttrValue(std::vector<int64_t>{int_attr(*call, "axis")})}, {"exclude", true}});
    return Adjoints{collapse(g, call->args()[0]), bias};
  }};
}

namespace {

Expr transposed(const Expr& value, const std::vector<int64_t>& axes = {}) {
  return axes.empty() ? op("transpose", {value}) : op("transpose", {value}, {{"axes", AttrValue(axes)}});
}

int64_t known_extent(const CallNode& call, size_t arg, int axis) {
  const TensorTypeNode& type = tensor_arg(call, arg);
  const Dim extent = type.shape()[front_axis(axis, type.rank())];
  if (extent.is_any())
    refuse(call,
           "needs to know the width of its matrices, got " + type_text(call.args()[arg]->checked_type()));
  return extent.value();
}

// `value` as a matrix: all axes but the last become one.
Expr as_matrix(const CallNode& call, const Expr& value, size_t like) {
  if (tensor_arg(call, 0).rank() == 2) return value;
  const int64_t width = like == 0 ? known_extent(call, 0, -1) : known_extent(call, 1, 0);
  return op("reshape", {value}, {{"newshape", AttrValue(std::vector<int64_t>{-1, width})}});
}

// y = a * b^T, b a matrix: dy * b for a, dy^T * a for b. dense multiplies by the transposed, too.
Adjoints dense_adjoints(const CallNode& call, const Expr& g) {
  const Expr &a = call.args()[0], &b = call.args()[1];
  const int64_t width = known_extent(call, 1, 1);
  const auto dense = [&](const Expr& left, const Expr& right) {
    return op(op_names::kDense, {left, right}, {{"units", width}});
  };
  return {collapse(dense(g, transposed(b)), a),
          collapse(dense(transposed(as_matrix(call, g, 1)), transposed(as_matrix(call, a, 0))), b)};
}

struct Product {
  Expr left, right;
  bool transpose_left = false, transpose_right = false;
};

// y = a * b, with either operand transposed: what the adjoints are products of.
std::pair<Product, Product> product_adjoints(const Expr& a, const Expr& b, bool ta, bool tb, const Expr& g) {
  if (ta && tb) return {{b, g, true, true}, {g, a, true, true}};
  if (ta) return {{b, g, false, true}, {a, g, false, false}};
  if (tb) return {{g, b, false, false}, {g, a, true, false}};
  return {{g, b, false, true}, {a, g, true, false}};
}

}  // namespace

GradientRule dense_gradient() {
  return {[](const Call& call, const Expr& g) { return dense_adjoints(*call, g); }};
}

GradientRule matmul_gradient() {
  return {[](const Call& call, const Expr& g) {
    const bool ta = bool_attr(*call, "transpose_a"), tb = bool_attr(*call, "transpose_b");
    if (!ta && tb) return dense_adjoints(*call, g);
    const Expr &a = call->args()[0], &b = call->args()[1];
    if (tensor_arg(*call, 0).rank() != 2)
      refuse(*call, "is provided for two matrices, got " + type_text(a->checked_type()));
    const auto [left, right] = product_adjoints(a, b, ta, tb, g);
    const auto product = [](const Product& of) {
      return op("nn.matmul", {of.left, of.right},
                {{"transpose_a", of.transpose_left}, {"transpose_b", of.transpose_right}});
    };
    return Adjoints{collapse(product(left), a), collapse(product(right), b)};
  }};
}

GradientRule batch_matmul_gradient() {
  return {[](const Call& call, const Expr& g) {
    const Expr &a = call->args()[0], &b = call->args()[1];
    const bool ta = bool_attr(*call, "transpose_a"), tb = bool_attr(*call, "transpose_b");
    const auto product = [](const Product& of) {
      return op(op_names::kBatchMatmul, {of.left, of.right},
                {{"transpose_a", of.transpose_left}, {"transpose_b", of.transpose_right}});
    };
    if (!ta && tb) {
      // The usual form stays the usual form: the second operand is the transposed one.
      const std::vector<int64_t> swap{0, 2, 1};
      return Adjoints{collapse(product({g, transposed(b, swap), false, true}), a),
                      collapse(product({transposed(g, swap), transposed(a, swap), false, true}), b)};
    }
    const auto [left, right] = product_adjoints(a, b, ta, tb, g);
    return Adjoints{collapse(product(left), a), collapse(product(right), b)};
  }};
}

// The data's adjoint is a transposed convolution of g with the weight; that of the weight sums over all
// places.
GradientRule conv2d_gradient() {
  return {[](const Call& call, const Expr& g) {
    const auto& attrs = attrs_as<Conv2DAttrs>(call->attrs());
    if (attrs.data_layout != "NCHW" || attrs.kernel_layout != "OIHW" ||
        !(attrs.out_layout.empty() || attrs.out_layout == "NCHW"))
      refuse(*call, "is provided for the layouts NCHW and OIHW, got " + attrs.data_layout + " and " +
                        attrs.kernel_layout);
    const Expr &data = call->args()[0], &weight = call->args()[1];
    const TensorTypeNode &in = tensor_arg(*call, 0), *out = tensor_type_of(Expr(call));
    const std::vector<int64_t> kernel = static_arg(*call, 1);
    const Padding2D padding = *padding_2d(attrs.padding);
    const int64_t pads[2] = {padding.height(), padding.width()};
    std::vector<int64_t> rest(2);  // cells at the end that no window reaches
    for (int i = 0; i < 2; ++i) {
      if (in.shape()[2 + i].is_any())
        refuse(*call, "needs to know height and width, got " + type_text(data->checked_type()));
      const int64_t reached = (out->shape()[2 + i].value() - 1) * attrs.strides[i] - pads[i] +
                              (kernel[2 + i] - 1) * attrs.dilation[i] + 1;
      rest[i] = in.shape()[2 + i].value() - reached;
    }
    std::vector<std::pair<std::string, AttrValue>> turned{{"strides", AttrValue(attrs.strides)},
                                                          {"padding", AttrValue(attrs.padding)},
                                                          {"dilation", AttrValue(attrs.dilation)},
                                                          {"groups", attrs.groups},
                                                          {"kernel_layout", "IOHW"},
                                                          {"output_padding", AttrValue(rest)},
                                                          {"out_dtype", out->dtype()}};
    if (attrs.groups != 1) {
      // What groups there are cannot be read from the weight.
      turned.emplace_back("channels", kernel[1] * attrs.groups);
      turned.emplace_back("kernel_size", AttrValue(std::vector<int64_t>{kernel[2], kernel[3]}));
    }
    const Expr for_data = op("nn.conv2d_transpose", {g, weight}, turned);
    // Here the layouts are those of g, the data and the result.
    const Expr for_weight = op("nn.conv2d_backward_weight", {g, data},
                               {{"strides", AttrValue(attrs.strides)},
                                {"padding", AttrValue(attrs.padding)},
                                {"dilation", AttrValue(attrs.dilation)},
                                {"groups", attrs.groups},
                                {"channels", kernel[0]},
                                {"kernel_size", AttrValue(std::vector<int64_t>{kernel[2], kernel[3]})},
                                {"data_layout", "NCHW"},
                                {"kernel_layout", "NCHW"},
                                {"out_layout", "OIHW"},
                                {"out_dtype", out->dtype()}});
    return Adjoints{for_data, for_weight};
  }};
}

namespace {

void refuse_dilation(const CallNode& call) {
  for (const int64_t dilation : ints_attr(call, "dilation"))
    if (dilation != 1) refuse(call, "with dilation is not provided yet");
}

}  // namespace

GradientRule max_pool2d_gradient() {
  return {[](const Call& call, const Expr& g) {
    refuse_dilation(*call);
    MaxPool2DAttrs attrs = attrs_as<MaxPool2DAttrs>(call->attrs());
    attrs.dilation = {};  // has no meaning here
    return Adjoints{
        Expr(baton::call("nn.max_pool2d_grad", {g, call->args()[0]}, make_attrs(std::move(attrs))))};
  }};
}

GradientRule avg_pool2d_gradient() {
  return {[](const Call& call, const Expr& g) {
    refuse_dilation(*call);
    AvgPool2DAttrs attrs = attrs_as<AvgPool2DAttrs>(call->attrs());
    attrs.dilation = {};
    return Adjoints{
        Expr(baton::call("nn.avg_pool2d_grad", {g, call->args()[0]}, make_attrs(std::move(attrs))))};
  }};
}

// One window over the whole plane.
GradientRule global_avg_pool2d_gradient() {
  return {[](const Call& call, const Expr& g) {
    AvgPool2DAttrs attrs;
    attrs.layout = text_attr(*call, "layout");
    const size_t height = attrs.layout.find('H'), width = attrs.layout.find('W');
    if (attrs.layout != "NCHW" && attrs.layout != "NHWC")
      refuse(*call, "is provided for the layouts NCHW and NHWC, got " + attrs.layout);
    const std::vector<Dim>& shape = tensor_arg(*call, 0).shape();
    if (shape[height].is_any() || shape[width].is_any())
      refuse(*call, "needs to know height and width, got " + type_text(call->args()[0]->checked_type()));
    attrs.pool_size = {shape[height].value(), shape[width].value()};
    attrs.dilation = {};
    return Adjoints{
        Expr(baton::call("nn.avg_pool2d_grad", {g, call->args()[0]}, make_attrs(std::move(attrs))))};
  }};
}

namespace {

Expr kept_sum(const CallNode& call, const Expr& value) {
  return op("sum", {value},
            {{"axis", AttrValue(std::vector<int64_t>{int_attr(call, "axis")})}, {"keepdims", true}});
}

}  // namespace

GradientRule softmax_gradient() {
  return {[](const Call& call, const Expr& g) {
    const Expr y(call);
    return Adjoints{mul(sub(g, kept_sum(*call, mul(g, y))), y)};
  }};
}

GradientRule log_softmax_gradient() {
  return {[](const Call& call, const Expr& g) {
    return Adjoints{sub(g, mul(kept_sum(*call, g), op("exp", {Expr(call)})))};
  }};
}

namespace {

// g, divided by the number of rows that the loss is the mean over.
Expr per_row(const CallNode& call, const Expr& g) {
  const Expr& x = call.args()[0];
  const Expr rows =
      op("take", {op("shape_of", {x}), Expr(scalar(0, DType::int_(32)))}, {{"axis", int64_t{0}}});
  return div(g, op("cast", {rows}, {{"dtype", tensor_arg(call, 0).dtype()}}));
}

}  // namespace

GradientRule cross_entropy_gradient() {
  return {[](const Call& call, const Expr& g) {
    const Expr &x = call->args()[0], &y = call->args()[1];
    const Expr share = per_row(*call, g);
    return Adjoints{div(mul(neg(share), y), x), mul(neg(share), op("log", {x}))};
  }};
}

GradientRule cross_entropy_with_logits_gradient() {
  return {[](const Call& call, const Expr& g) {
    const Expr &x = call->args()[0], &y = call->args()[1];
    const Expr share = per_row(*call, g);
    return Adjoints{mul(neg(share), y), mul(neg(share), x)};
  }};
}

}  // namespace baton
