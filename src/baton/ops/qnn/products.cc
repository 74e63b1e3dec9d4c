// Matrix products and convolutions of quantised tensors: the float operators' relations on data and weight,
// and checks of the other inputs. Relay calls them with (data, weight, zero points, scales) but names their
// inputs in another order; we keep its names. In integers they are, with zero points a and b,
//   sum (x - a) (w - b)  =  sum x w  -  b sum x  -  a sum w  +  a b n
// where only the first term needs multiplications, and the third and fourth are constants of the program.
#include "baton/ir/op_names.h"
#include "baton/ir/rules/brief.h"
#include "baton/ir/rules/legalize_rule.h"
#include "baton/ops/nn/conv/conv2d.h"
#include "baton/ops/nn/conv/conv_transpose.h"
#include "baton/ops/nn/matrix_products.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/qnn/plain_pairs.h"
#include "baton/ops/qnn/quant_types.h"
#include "baton/ops/rules/qnn_build.h"

namespace baton {

namespace {

using namespace qnn;

/// The arguments of a product in the order of the call.
struct Operands {
  Expr data, weight, data_zero, weight_zero, data_scale, weight_scale;
  const TensorTypeNode *data_type, *weight_type;
};

Operands operands(const CallNode& call, const std::vector<Type>& types) {
  const auto& args = call.args();
  return {args[0],
          args[1],
          args[2],
          args[3],
          args[4],
          args[5],
          as_type<TensorTypeNode>(types[0]),
          as_type<TensorTypeNode>(types[1])};
}

/// The four terms; null where a zero point is 0.
struct Terms {
  Expr product, data_sum, weight_sum, count;
};

Expr combine(const Terms& terms) {
  if (terms.data_sum && terms.weight_sum)
    return add(subtract(terms.product, terms.data_sum), subtract(terms.count, terms.weight_sum));
  const Expr& sum = terms.data_sum ? terms.data_sum : terms.weight_sum;
  return sum ? subtract(terms.product, sum) : terms.product;
}

/// a * b * n, computed here when both zero points are known.
Expr count_term(const Operands& in, int64_t n) {
  const auto a = scalar_value(in.data_zero), b = scalar_value(in.weight_zero);
  const auto bits = [](double zero) { return static_cast<uint64_t>(static_cast<int64_t>(zero)); };
  if (a && b) return int32_scalar(static_cast<int64_t>(bits(*a) * bits(*b) * static_cast<uint64_t>(n)));
  return multiply(multiply(in.data_zero, in.weight_zero), int32_scalar(n));
}

Expr sum_over(const Expr& x, std::vector<int64_t> axes, bool keepdims) {
  NamedAttrs attrs = {{"axis", std::move(axes)}};
  if (keepdims) attrs.emplace_back("keepdims", true);
  return apply("sum", {cast_to(x, kInt32)}, attrs);
}

// ---- Dense layers and batches of products.

Expr canonicalize_dense(const CallNode& call, const std::vector<Type>& types, const Type&,
                        const LegalizeTarget&) {
  const Operands in = operands(call, types);
  const Dim length = in.weight_type->shape()[1];
  const bool moved_data = !is_scalar(in.data_zero, 0), moved_weight = !is_scalar(in.weight_zero, 0);
  if (moved_data && moved_weight && length.is_any()) return {};
  Terms terms;
  terms.product = apply_like(op_names::kDense, {in.data, in.weight}, call);
  if (moved_weight) {
    const int64_t last = in.data_type->rank() - 1;
    terms.data_sum = multiply(in.weight_zero, sum_over(in.data, {last}, true));
  }
  if (moved_data) terms.weight_sum = multiply(in.data_zero, sum_over(in.weight, {1}, false));
  if (moved_data && moved_weight) terms.count = count_term(in, length.value());
  return combine(terms);
}

Expr canonicalize_batch_matmul(const CallNode& call, const std::vector<Type>& types, const Type&,
                               const LegalizeTarget&) {
  const Operands in = operands(call, types);
  const int64_t inner_x = bool_attr(call, "transpose_a") ? 1 : 2,
                inner_y = bool_attr(call, "transpose_b") ? 2 : 1;
  const Dim length = in.data_type->shape()[inner_x];
  const bool moved_x = !is_scalar(in.data_zero, 0), moved_y = !is_scalar(in.weight_zero, 0);
  if (moved_x && moved_y && length.is_any()) return {};
  Terms terms;
  terms.product = apply_like(op_names::kBatchMatmul, {in.data, in.weight}, call);
  // The sums are (batch, m, 1) and (batch, 1, n).
  if (moved_y) {
    Expr sum = sum_over(in.data, {inner_x}, true);
    if (inner_x == 1) sum = apply("transpose", {sum}, {{"axes", std::vector<int64_t>{0, 2, 1}}});
    terms.data_sum = multiply(in.weight_zero, sum);
  }
  if (moved_x) {
    Expr sum = sum_over(in.weight, {inner_y}, true);
    if (inner_y == 2) sum = apply("transpose", {sum}, {{"axes", std::vector<int64_t>{0, 2, 1}}});
    terms.weight_sum = multiply(in.data_zero, sum);
  }
  if (moved_x && moved_y) terms.count = count_term(in, length.value());
  return combine(terms);
}

// ---- Convolutions.

/// Data and weight less their zero points, in int16, and the plain operator on them. `always`: zero points of
/// 0 too.
Expr shifted_product(const char* op, const CallNode& call, const std::vector<Type>& types, bool always) {
  const Operands in = operands(call, types);
  const auto shifted = [&](const Expr& x, const TensorTypeNode& type, const Expr& zero, const Type& zero_type,
                           int64_t axis) {
    const Expr wide = cast_to(x, kInt16);
    if (!always && is_scalar(zero, 0)) return wide;
    return subtract(wide, spread(cast_to(zero, kInt16), zero_type, type.rank(), axis));
  };
  // One zero point per channel of the result: along the weight's output channels.
  const std::string layout =
      call.attrs()->schema().find("kernel_layout") ? text_attr(call, "kernel_layout") : "OI";
  const size_t output = layout.find('O');
  const Expr data = shifted(in.data, *in.data_type, in.data_zero, types[2], -1);
  const Expr weight = shifted(in.weight, *in.weight_type, in.weight_zero, types[3],
                              output == std::string::npos ? 0 : static_cast<int64_t>(output));
  return apply_like(op, {data, weight}, call);
}

/// A convolution whose axes are known.
struct QuantizedConv {
  size_t data_c, data_h, data_w;  ///< positions in data_layout
  size_t weight_h, weight_w;      ///< in kernel_layout
  int64_t height, width;          ///< of the window
  int64_t in_channels, out_channels, groups;
  bool depthwise;
  std::vector<int64_t> weight_extents;
};

std::optional<QuantizedConv> conv_of(const CallNode& call, const Operands& in) {
  const std::string data = text_attr(call, "data_layout"), kernel = text_attr(call, "kernel_layout");
  const std::string out = text_attr(call, "out_layout");
  if (data.size() != 4 || kernel.size() != 4 || (!out.empty() && out != data) || !in.weight_type->is_static())
    return std::nullopt;
  QuantizedConv conv;
  conv.data_c = data.find('C'), conv.data_h = data.find('H'), conv.data_w = data.find('W');
  conv.weight_h = kernel.find('H'), conv.weight_w = kernel.find('W');
  const size_t o = kernel.find('O'), i = kernel.find('I');
  if (o == std::string::npos || i == std::string::npos) return std::nullopt;
  const Dim channels = in.data_type->shape()[conv.data_c];
  if (channels.is_any()) return std::nullopt;
  conv.weight_extents = in.weight_type->extents();
  conv.height = conv.weight_extents[conv.weight_h], conv.width = conv.weight_extents[conv.weight_w];
  conv.in_channels = channels.value();
  conv.groups = int_attr(call, "groups");
  conv.depthwise = conv.groups > 1 && conv.groups == conv.in_channels;
  conv.out_channels = conv.weight_extents[o] * (conv.depthwise ? conv.weight_extents[i] : 1);
  return conv;
}

/// Top, left, bottom and right padding.
std::vector<int64_t> sides(const std::vector<int64_t>& padding) {
  if (padding.size() == 4) return padding;
  if (padding.size() == 2) return {padding[0], padding[1], padding[0], padding[1]};
  return std::vector<int64_t>(4, padding.at(0));
}

/// The data with its border of zero points written out: the sums count it.
Expr padded(const Operands& in, const CallNode& call, const QuantizedConv& conv) {
  const std::vector<int64_t> side = sides(ints_attr(call, "padding"));
  if (side == std::vector<int64_t>(4, 0)) return in.data;
  AttrList width(4, AttrValue(std::vector<int64_t>{0, 0}));
  width[conv.data_h] = std::vector<int64_t>{side[0], side[2]};
  width[conv.data_w] = std::vector<int64_t>{side[1], side[3]};
  return apply("nn.pad", {in.data, in.data_zero}, {{"pad_width", width}});
}

/// b times the sum of the data in each window: the mean over the window, of numbers that were multiplied by
/// its size.
Expr window_sums(const Operands& in, const Expr& data, const CallNode& call, const QuantizedConv& conv) {
  Expr sum =
      conv.depthwise ? cast_to(data, kInt32) : sum_over(data, {static_cast<int64_t>(conv.data_c)}, true);
  const int64_t size = conv.height * conv.width;
  const std::vector<int64_t> strides = ints_attr(call, "strides");
  const bool strided =
      std::any_of(strides.begin(), strides.end(), [](int64_t stride) { return stride != 1; });
  if (size != 1) sum = multiply(sum, int32_scalar(size));
  if (size != 1 || strided)
    sum = apply("nn.avg_pool2d", {sum},
                {{"pool_size", std::vector<int64_t>{conv.height, conv.width}},
                 {"strides", strides},
                 {"layout", text_attr(call, "data_layout")}});
  const int64_t times = conv.out_channels / conv.in_channels;
  if (conv.depthwise && times != 1)
    sum = apply("repeat", {sum}, {{"repeats", times}, {"axis", static_cast<int64_t>(conv.data_c)}});
  return is_scalar(in.weight_zero, 1) ? sum : multiply(in.weight_zero, sum);
}

/// a times the sum of each filter, along the channels of the result.
Expr filter_sums(const Operands& in, const CallNode& call, const QuantizedConv& conv) {
  std::vector<int64_t> axes;
  const std::string kernel = text_attr(call, "kernel_layout");
  for (size_t axis = 0; axis < 4; ++axis)
    if (axis == conv.weight_h || axis == conv.weight_w || (kernel[axis] == 'I' && !conv.depthwise))
      axes.push_back(static_cast<int64_t>(axis));
  std::vector<int64_t> shape(4, 1);
  shape[conv.data_c] = conv.out_channels;
  const Expr sum = apply("reshape", {sum_over(in.weight, axes, false)}, {{"newshape", shape}});
  return is_scalar(in.data_zero, 1) ? sum : multiply(in.data_zero, sum);
}

Expr canonicalize_conv2d(const CallNode& call, const std::vector<Type>& types, const Type&,
                         const LegalizeTarget&) {
  const Operands in = operands(call, types);
  const bool moved_data = !is_scalar(in.data_zero, 0), moved_weight = !is_scalar(in.weight_zero, 0);
  if (!moved_data && !moved_weight) return apply_like(op_names::kConv2D, {in.data, in.weight}, call);
  const std::optional<QuantizedConv> conv = conv_of(call, in);
  const std::vector<int64_t> dilation = ints_attr(call, "dilation");
  const bool dilated = std::any_of(dilation.begin(), dilation.end(), [](int64_t each) { return each != 1; });
  const auto* zero_type = as_type<TensorTypeNode>(types[3]);
  // Pools have no gaps and know no groups; zero points per channel have no common second term.
  if (!conv || (dilated && moved_weight) || (conv->groups > 1 && !conv->depthwise) || zero_type->rank() != 0)
    return shifted_product(op_names::kConv2D, call, types, false);
  const Expr data = padded(in, call, *conv);
  Terms terms;
  terms.product =
      apply_like(op_names::kConv2D, {data, in.weight}, call, {{"padding", std::vector<int64_t>(4, 0)}});
  if (moved_weight) terms.data_sum = window_sums(in, data, call, *conv);
  if (moved_data) terms.weight_sum = filter_sums(in, call, *conv);
  if (moved_data && moved_weight)
    terms.count = count_term(in, conv->height * conv->width * (conv->depthwise ? 1 : conv->in_channels));
  return combine(terms);
}

// ---- Types supported by processors.

/// `x` and its zero point moved by `by` into `dtype`.
std::pair<Expr, Expr> moved(const Expr& x, const Expr& zero, int64_t by, DType dtype) {
  const Expr data = cast_to(add(cast_to(x, kInt32), int32_scalar(by)), dtype);
  const auto known = scalar_value(zero);
  return {data, known ? int32_scalar(static_cast<int64_t>(*known) + by) : add(zero, int32_scalar(by))};
}

/// With fast_int8: data in uint8 and weight in int8, which such processors multiply. Else both in int16 with
/// their zero points subtracted, as an ordinary, not quantised product.
LegalizeRule::Rewrite product_types_rule(const char* quantized, const char* plain) {
  return [=](const CallNode& call, const std::vector<Type>& types, const Type&,
             const LegalizeTarget& target) -> Expr {
    if (!target.fast_int8) return shifted_product(plain, call, types, true);
    Operands in = operands(call, types);
    const DType data = in.data_type->dtype(), weight = in.weight_type->dtype();
    if ((data == kUInt8 && weight == kInt8) || data == kInt16) return {};
    if (data == kInt8) std::tie(in.data, in.data_zero) = moved(in.data, in.data_zero, 128, kUInt8);
    if (weight == kUInt8) std::tie(in.weight, in.weight_zero) = moved(in.weight, in.weight_zero, -128, kInt8);
    return apply_like(
        quantized, {in.data, in.weight, in.data_zero, in.weight_zero, in.data_scale, in.weight_scale}, call);
  };
}

LegalizeRule quantized_conv2d_rule() {
  return {{}, product_types_rule("qnn.conv2d", op_names::kConv2D), canonicalize_conv2d};
}

LegalizeRule quantized_dense_rule() {
  return {{}, product_types_rule("qnn.dense", op_names::kDense), canonicalize_dense};
}

LegalizeRule quantized_batch_matmul_rule() { return {{}, {}, canonicalize_batch_matmul}; }

LegalizeRule quantized_conv2d_transpose_rule() {
  return {
      {},
      [](const CallNode& call, const std::vector<Type>& types, const Type&, const LegalizeTarget&) -> Expr {
        return shifted_product("nn.conv2d_transpose", call, types, true);
      },
      {}};
}

// The number of channels of a convolution's result, already accepted by conv2d_relation.
Dim output_channels(const Conv2DAttrs& attrs, const TensorTypeNode& weight) {
  if (attrs.channels) return *attrs.channels;
  const bool grouped = attrs.kernel_layout.find('G') != std::string::npos;
  const Layout canonical = *Layout::parse(grouped ? "GOIHW" : "OIHW");
  const std::vector<Dim> shape =
      convert_shape(weight.shape(), *Layout::parse(attrs.kernel_layout), canonical);
  return grouped ? times(shape[0], shape[1]) : shape[0];
}

RelationStatus quantized_conv2d_relation(RelationContext& ctx, const Conv2DAttrs& attrs) {
  if (!tensors_known(ctx, 0, 5)) return kDefer;
  if (!check_product_types(ctx, attrs.out_dtype)) return kFailed;
  if (attrs.channels && !check_least(ctx, "channels", {&*attrs.channels, 1}, 1)) return kFailed;
  const RelationStatus status = conv2d_relation(ctx, attrs);
  if (status != kDone) return status;
  return check_per_channel(ctx, 5, kScaleType, output_channels(attrs, *ctx.tensor(1))) ? kDone : kFailed;
}

RelationStatus quantized_conv2d_transpose_relation(RelationContext& ctx, const Conv2DTransposeAttrs& attrs) {
  if (!tensors_known(ctx, 0, 5)) return kDefer;
  if (!check_product_types(ctx, attrs.out_dtype) || !check_least(ctx, "padding", attrs.padding, 0))
    return kFailed;
  const RelationStatus status = conv2d_transpose_relation(ctx, attrs);
  if (status != kDone) return status;
  const bool grouped = attrs.kernel_layout.find('G') != std::string::npos;
  const Layout canonical = *Layout::parse(grouped ? "GIOHW" : "IOHW");
  const std::vector<Dim> weight =
      convert_shape(ctx.tensor(1)->shape(), *Layout::parse(attrs.kernel_layout), canonical);
  const Dim channels = attrs.channels ? Dim(*attrs.channels)
                       : grouped      ? times(weight[0], weight[2])
                                      : weight[1];
  return check_per_channel(ctx, 5, kScaleType, channels) ? kDone : kFailed;
}

RelationStatus quantized_dense_relation(RelationContext& ctx, const DenseAttrs& attrs) {
  if (!tensors_known(ctx, 0, 5)) return kDefer;
  if (!check_product_types(ctx, attrs.out_dtype)) return kFailed;
  if (attrs.units && !check_least(ctx, "units", {&*attrs.units, 1}, 0)) return kFailed;
  const RelationStatus status = dense_relation(ctx, attrs);
  if (status != kDone) return status;
  const Dim units =
      attrs.units ? Dim(*attrs.units) : ctx.tensor(1)->shape()[0];  // dense_relation checked the rank
  return check_per_channel(ctx, 3, kZeroPointType, units) && check_per_channel(ctx, 5, kScaleType, units)
             ? kDone
             : kFailed;
}

RelationStatus quantized_batch_matmul_relation(RelationContext& ctx, const BatchMatmulAttrs& attrs) {
  if (!tensors_known(ctx, 0, 5)) return kDefer;
  if (!check_product_types(ctx, attrs.out_dtype)) return kFailed;
  if (!check_scalar(ctx, 3, kZeroPointType) || !check_scalar(ctx, 5, kScaleType)) return kFailed;
  return batch_matmul_relation(ctx, attrs);
}

// The second operand's zero point and scale may be per channel: their documentation says so.
std::vector<OpInput> weighted_inputs(const char* data, const char* weight, const char* zero_point,
                                     const char* scale) {
  return {{"data", data},
          {"weight", weight},
          {"input_scale", "third in a call: the zero point of the data, int32 scalar"},
          {"input_zero_point", zero_point},
          {"weight_scale", "fifth: the scale of the data, float32 scalar"},
          {"weight_zero_point", scale}};
}

}  // namespace

const OpDef& op_qnn_conv2d() {
  static const OpDef def = OpSpec<Conv2DAttrs>{
      .name = "qnn.conv2d",
      .doc = "nn.conv2d of (data - its zero point) and (weight - its zero point), in integers.",
      .inputs =
          weighted_inputs("quantised 4-D tensor in data_layout", "quantised 4-D tensor in kernel_layout",
                          "fourth: the zero point of the weight, int32",
                          "sixth: the scale of the weight, float32 scalar or one value per output channel"),
      .fuse = Fuse::kOutFusable,
      .relation = quantized_conv2d_relation,
      .non_computational = true,
      .python =
          "qnn.conv2d(data, kernel, input_zero_point, kernel_zero_point, input_scale, kernel_scale, "
          "kernel_size, channels, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, "
          "data_layout='NCHW', kernel_layout='OIHW', out_layout='', out_dtype='int32')",
      .rules = op_rules(conv_brief(), with_plain_pairs(2, quantized_conv2d_rule()), conv_layout_flow(),
                        ConvertedLayout::kConvolution, OwnPadding::kQuantizedConvolution),
  };
  return def;
}

const OpDef& op_qnn_conv2d_transpose() {
  static const OpDef def = OpSpec<Conv2DTransposeAttrs>{
      .name = "qnn.conv2d_transpose",
      .doc = "nn.conv2d_transpose of (data - its zero point) and (weight - its zero point), in integers.",
      .inputs =
          weighted_inputs("quantised 4-D tensor in data_layout", "quantised 4-D tensor in kernel_layout",
                          "fourth: the zero point of the weight, int32",
                          "sixth: the scale of the weight, float32 scalar or one value per output channel"),
      .relation = quantized_conv2d_transpose_relation,
      .non_computational = true,
      .python =
          "qnn.conv2d_transpose(data, weight, input_zero_point, kernel_zero_point, input_scale, "
          "kernel_scale, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, channels=None, "
          "kernel_size=None, data_layout='NCHW', kernel_layout='IOHW', out_layout='', output_padding=(0, 0), "
          "out_dtype='int32')",
      .rules = op_rules(conv_brief(), with_plain_pairs(2, quantized_conv2d_transpose_rule()),
                        conv_layout_flow(), ConvertedLayout::kConvolution),
  };
  return def;
}

const OpDef& op_qnn_dense() {
  static const OpDef def = OpSpec<DenseAttrs>{
      .name = "qnn.dense",
      .doc = "nn.dense of (data - its zero point) and (weight - its zero point), in integers.",
      .inputs = weighted_inputs("quantised tensor of rank >= 1, k innermost", "quantised matrix (units, k)",
                                "fourth: the zero point of the weight, int32 scalar or one value per unit",
                                "sixth: the scale of the weight, float32 scalar or one value per unit"),
      .fuse = Fuse::kOutFusable,
      .relation = quantized_dense_relation,
      .non_computational = true,
      .python =
          "qnn.dense(data, weight, input_zero_point, kernel_zero_point, input_scale, kernel_scale, units, "
          "out_dtype='int32')",
      .rules = op_rules(dense_brief(), with_plain_pairs(2, quantized_dense_rule())),
  };
  return def;
}

const OpDef& op_qnn_batch_matmul() {
  static const OpDef def = OpSpec<BatchMatmulAttrs>{
      .name = "qnn.batch_matmul",
      .doc = "nn.batch_matmul of (x - its zero point) and (y - its zero point), in integers.",
      .inputs = {{"x", "quantised 3-D tensor"},
                 {"y", "quantised 3-D tensor"},
                 {"x_scale", "third in a call: the zero point of x, int32 scalar"},
                 {"x_zero_point", "fourth: the zero point of y, int32 scalar"},
                 {"y_scale", "fifth: the scale of x, float32 scalar"},
                 {"y_zero_point", "sixth: the scale of y, float32 scalar"}},
      .fuse = Fuse::kOutFusable,
      .relation = quantized_batch_matmul_relation,
      .non_computational = true,
      .rules = op_rules(matmul_brief(), with_plain_pairs(2, quantized_batch_matmul_rule())),
  };
  return def;
}

}  // namespace baton
