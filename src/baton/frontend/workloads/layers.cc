#include "baton/frontend/workloads/layers.h"

#include "baton/ir/op.h"
#include "baton/ir/op_names.h"
#include "baton/ir/visit.h"

namespace baton::workloads {

std::string ImageLayout::kernel(bool depthwise) const {
  if (data == "NCHW") return "OIHW";
  if (data == "NHWC") return depthwise ? "HWOI" : "HWIO";
  throw Error("layout \"" + data +
              "\" is not one that the networks are written for; use \"NCHW\" or \"NHWC\"");
}

Expr layer(const std::string& op, std::vector<Expr> args,
           const std::vector<std::pair<std::string, AttrValue>>& attrs) {
  const OpDef* def = find_op(op);
  BATON_CHECK(def, op);
  return call_expr(op_expr(*def), std::move(args), attrs.empty() ? Attrs() : make_attrs(*def->attrs, attrs));
}

Expr conv2d(const Expr& data, const std::string& name, const ImageLayout& layout,
            const ConvOptions& options) {
  std::vector<int64_t> padding = options.padding;
  if (padding.size() == 2) padding.insert(padding.end(), {padding[0], padding[1]});
  Type weight;
  if (options.depthwise) {
    const int64_t height = options.kernel[0], width = options.kernel[1];
    weight = tensor_type(layout.data == "NCHW" ? std::vector<int64_t>{options.channels, 1, height, width}
                                               : std::vector<int64_t>{height, width, options.channels, 1},
                         options.dtype);
  }
  return layer(op_names::kConv2D, {data, var(name + "_weight", weight)},
               {{"strides", options.strides},
                {"padding", padding},
                {"groups", options.groups},
                {"channels", options.channels},
                {"kernel_size", options.kernel},
                {"data_layout", layout.data},
                {"kernel_layout", layout.kernel(options.depthwise)}});
}

Expr conv2d_bias(const Expr& data, const std::string& name, const ImageLayout& layout,
                 const ConvOptions& options) {
  return layer("nn.bias_add", {conv2d(data, name, layout, options), var(name + "_bias")},
               {{"axis", layout.channel_axis()}});
}

Expr batch_norm(const Expr& data, const std::string& name, const ImageLayout& layout, double epsilon,
                bool scale) {
  return get_item(layer("nn.batch_norm",
                        {data, var(name + "_gamma"), var(name + "_beta"), var(name + "_moving_mean"),
                         var(name + "_moving_var")},
                        {{"axis", layout.channel_axis()}, {"epsilon", epsilon}, {"scale", scale}}),
                  0);
}

Expr dense_bias(const Expr& data, const std::string& name, int64_t units, int64_t bias_axis) {
  const Expr product = layer(op_names::kDense, {data, var(name + "_weight")}, {{"units", units}});
  return layer("nn.bias_add", {product, var(name + "_bias")}, {{"axis", bias_axis}});
}

Expr relu(const Expr& data) { return layer("nn.relu", {data}); }

Expr softmax(const Expr& data) { return layer("nn.softmax", {data}); }

IRModule network(const Expr& body) { return module_from_expr(body); }

Type image_type(int64_t batch, const std::vector<int64_t>& shape, DType dtype) {
  std::vector<int64_t> extents{batch};
  extents.insert(extents.end(), shape.begin(), shape.end());
  return tensor_type(extents, dtype);
}

}  // namespace baton::workloads
