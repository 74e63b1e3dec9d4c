#include "baton/ops/rules/int8_rules.h"

#include <algorithm>

#include "baton/ir/op_names.h"
#include "baton/ops/rules/qnn_build.h"

namespace baton {

namespace {

using namespace qnn;

constexpr int64_t kShift = 128;
constexpr int64_t kInChannels = 4, kOutChannels = 16;  // that one instruction takes and gives

Expr shifted(const Expr& x) { return cast_to(add(cast_to(x, kInt32), int32_scalar(kShift)), kUInt8); }

/// `x` with `behind` zeros, or `value`s, at the end of `axis`.
Expr extended(const Expr& x, size_t axis, int64_t behind) {
  AttrList width(4, AttrValue(std::vector<int64_t>{0, 0}));
  width[axis] = std::vector<int64_t>{0, behind};
  return apply("nn.pad", {x, int32_scalar(0)}, {{"pad_width", width}});
}

int64_t missing(int64_t channels, int64_t vector) { return (vector - channels % vector) % vector; }

/// The axes of a convolution in one of the two layouts that have instructions.
struct Axes {
  size_t data_c, data_h, weight_o, weight_i;
};

std::optional<Axes> axes_of(const CallNode& call) {
  const std::string data = text_attr(call, "data_layout"), kernel = text_attr(call, "kernel_layout"),
                    out = text_attr(call, "out_layout");
  if (!out.empty() && out != data) return std::nullopt;
  if (data == "NHWC" && kernel == "HWIO") return Axes{3, 1, 3, 2};
  if (data == "NCHW" && kernel == "OIHW") return Axes{1, 2, 0, 1};
  return std::nullopt;
}

Expr legalize_conv2d(const CallNode& call, const std::vector<Type>& types, const Type& type,
                     const LegalizeTarget& target) {
  const auto *data_type = as_type<TensorTypeNode>(types[0]), *weight_type = as_type<TensorTypeNode>(types[1]);
  const auto* result = as_type<TensorTypeNode>(type);
  const auto axes = axes_of(call);
  const std::vector<int64_t> dilation = ints_attr(call, "dilation");
  if (!target.fast_int8 || !axes || int_attr(call, "groups") != 1 || !weight_type->is_static() ||
      !result->is_static())
    return {};
  if (std::any_of(dilation.begin(), dilation.end(), [](int64_t each) { return each != 1; })) return {};
  const bool shift = data_type->dtype() == kInt8;
  if (weight_type->dtype() != kInt8 || !(shift || data_type->dtype() == kUInt8)) return {};
  Expr data = call.args()[0], weight = call.args()[1];
  NamedAttrs changes;
  Expr weight_sum;
  if (shift) {
    data = shifted(data);
    std::vector<int64_t> padding = ints_attr(call, "padding");
    if (padding.size() == 1) padding.assign(4, padding[0]);
    if (padding.size() == 2) padding = {padding[0], padding[1], padding[0], padding[1]};
    if (padding != std::vector<int64_t>(4, 0)) {  // the zero padding is 128 now
      AttrList width(4, AttrValue(std::vector<int64_t>{0, 0}));
      width[axes->data_h] = std::vector<int64_t>{padding[0], padding[2]};
      width[axes->data_h + 1] = std::vector<int64_t>{padding[1], padding[3]};
      data = apply("nn.pad", {data, int32_scalar(kShift)}, {{"pad_width", width}});
    }
    changes.emplace_back("padding", std::vector<int64_t>(4, 0));
    std::vector<int64_t> summed;
    for (size_t axis = 0; axis < 4; ++axis)
      if (axis != axes->weight_o) summed.push_back(static_cast<int64_t>(axis));
    weight_sum = apply("sum", {cast_to(weight, kInt32)}, {{"axis", summed}});
    weight_sum = multiply(along_axis(weight_sum, 4, static_cast<int>(axes->data_c)), int32_scalar(kShift));
  }
  const std::vector<int64_t> extents = weight_type->extents();
  const int64_t more_in = missing(extents[axes->weight_i], kInChannels),
                more_out = missing(extents[axes->weight_o], kOutChannels);
  if (!shift && more_in == 0 && more_out == 0) return {};
  if (more_in > 0) {
    data = extended(data, axes->data_c, more_in);
    weight = extended(weight, axes->weight_i, more_in);
  }
  if (more_out > 0) {
    weight = extended(weight, axes->weight_o, more_out);
    changes.emplace_back("channels", extents[axes->weight_o] + more_out);
  }
  Expr made = apply_like(op_names::kConv2D, {data, weight}, call, changes);
  if (more_out > 0)
    made = apply("strided_slice", {made},
                 {{"begin", std::vector<int64_t>(4, 0)},
                  {"end", result->extents()},
                  {"strides", std::vector<int64_t>{1}}});
  return weight_sum ? subtract(made, weight_sum) : made;
}

/// `expand`: the sums of a batch of matrices, which lie along their rows.
LegalizeRule::Rewrite product_rule(bool expand) {
  return [expand](const CallNode& call, const std::vector<Type>& types, const Type&,
                  const LegalizeTarget& target) -> Expr {
    const auto int8 = [](const Type& type) { return as_type<TensorTypeNode>(type)->dtype() == kInt8; };
    if (!target.vnni || !int8(types[0]) || !int8(types[1])) return {};
    if (expand && (bool_attr(call, "transpose_a") || !bool_attr(call, "transpose_b"))) return {};
    Expr sum = multiply(int32_scalar(kShift), apply("sum", {cast_to(call.args()[1], kInt32)},
                                                    {{"axis", std::vector<int64_t>{-1}}}));
    if (expand) sum = apply("expand_dims", {sum}, {{"axis", 1}});
    return subtract(apply_like(call.op()->name, {shifted(call.args()[0]), call.args()[1]}, call), sum);
  };
}

}  // namespace

LegalizeRule int8_conv2d_rule() { return {legalize_conv2d, {}, {}}; }
LegalizeRule int8_dense_rule() { return {product_rule(false), {}, {}}; }
LegalizeRule int8_batch_matmul_rule() { return {product_rule(true), {}, {}}; }

}  // namespace baton
