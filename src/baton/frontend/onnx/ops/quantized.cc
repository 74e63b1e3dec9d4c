// Quantised tensors: QuantizeLinear and its inverse, convolutions and products of matrices in integers.
#include "baton/frontend/onnx/ops/quantized.h"

#include <algorithm>
#include <cmath>

#include "baton/frontend/onnx/operators.h"
#include "baton/frontend/onnx/ops/formulas.h"
#include "baton/frontend/onnx/ops/products.h"
#include "baton/frontend/onnx/ops/windows.h"
#include "baton/ir/op_names.h"

namespace baton::onnx {

namespace {

template <class T>
NDArray widened(const NDArray& value) {
  std::vector<int32_t> wide;
  for (const T each : value.as<T>()) wide.push_back(static_cast<int32_t>(each));
  return NDArray::of<int32_t>(value.shape(), wide, kInt32);
}

bool is_one(const Expr& value) {
  return std::ranges::all_of(tensor_type(value).shape(), [](Dim dim) { return dim == Dim(1); });
}

/// Whether Relay's quantised operators take such a scale: one number, or a vector.
bool is_plain(const Quantization& by) {
  return tensor_type(by.scale).dtype() == kFloat32 &&
         (is_one(by.scale) || tensor_type(by.scale).rank() == 1) &&
         (is_one(by.zero) || tensor_type(by.zero).rank() == 1);
}

int channel_axis(const Quantization& by, int axis) { return is_one(by.scale) && is_one(by.zero) ? -1 : axis; }

double least_of(int bits, bool is_unsigned) { return is_unsigned ? 0 : -std::ldexp(1.0, bits - 1); }

}  // namespace

Expr as_int32(const Conversion& c, const Expr& value) {
  const DType dtype = tensor_type(value).dtype();
  if (const auto* known = as<ConstantNode>(value)) {
    if (dtype == kInt8) return c.constant(widened<int8_t>(known->value()));
    if (dtype == kUInt8) return c.constant(widened<uint8_t>(known->value()));
    if (dtype == kInt16) return c.constant(widened<int16_t>(known->value()));
    if (dtype == kUInt16) return c.constant(widened<uint16_t>(known->value()));
  }
  return c.cast(value, kInt32);
}

Expr zero_point(const Conversion& c, size_t i) {
  return c.has(i) ? as_int32(c, c.packed(i)) : c.scalar(0, kInt32);
}

Quantization quantization_of(const Conversion& c, size_t scale, size_t zero) {
  return {c[scale], zero_point(c, zero)};
}

Expr scale_product(const Conversion& c, const Expr& a, const Expr& b) {
  const auto *left = as<ConstantNode>(a), *right = as<ConstantNode>(b);
  if (!left || !right || tensor_type(a).dtype() != kFloat32 || tensor_type(b).dtype() != kFloat32 ||
      !is_one(a))
    return c.call("multiply", {a, b});
  std::vector<float> product;
  for (const float each : right->value().as<float>()) product.push_back(left->value().as<float>()[0] * each);
  return c.constant(NDArray::of<float>(right->value().shape(), product, kFloat32));
}

namespace {

/// In Relay's elementary operators: any types, and scales of any shape that broadcasts.
Expr quantized_by_parts(const Conversion& c, const Expr& scaled, const Expr& zero, DType dtype, int bits) {
  const Formulas f(c);
  const double least = least_of(bits, dtype.is_uint());
  const Expr moved = f.add(f.round_even(scaled), f.cast(zero, f.dtype_of(scaled)));
  return f.cast(f.clipped(moved, least, least + std::ldexp(1.0, bits) - 1), dtype);
}

}  // namespace

Expr quantized(const Conversion& c, const Expr& x, const Quantization& to, int axis, DType dtype) {
  if (is_plain(to) && tensor_type(x).dtype() == kFloat32 && dtype != kUInt16)
    return c.call("qnn.quantize", {x, to.scale, to.zero},
                  {{"axis", channel_axis(to, axis)}, {"out_dtype", dtype}, {"rounding", "TONEVEN"}});
  const Formulas f(c);
  const int rank = tensor_type(x).rank();
  const Expr scaled = f.div(f.cast(x, kFloat32), f.cast(f.along(to.scale, rank, axis), kFloat32));
  return quantized_by_parts(c, scaled, f.along(to.zero, rank, axis), dtype, dtype.bits);
}

Expr dequantized(const Conversion& c, const Expr& x, const Quantization& from, int axis) {
  const DType dtype = tensor_type(x).dtype();
  if (is_plain(from) && (dtype == kInt8 || dtype == kUInt8 || dtype == kInt16 || dtype == kInt32))
    return c.call("qnn.dequantize", {x, from.scale, from.zero}, {{"axis", channel_axis(from, axis)}});
  const Formulas f(c);
  const int rank = tensor_type(x).rank();
  const Expr moved = f.sub(f.cast(x, kInt32), f.along(from.zero, rank, axis));
  return f.mul(f.cast(moved, kFloat32), f.cast(f.along(from.scale, rank, axis), kFloat32));
}

Expr requantized(const Conversion& c, const Expr& sum, const Expr& scale, int axis, const Quantization& to,
                 DType dtype) {
  const Formulas f(c);
  const TensorTypeNode& unit = tensor_type(scale);
  if ((is_one(scale) || unit.rank() == 1) && is_one(to.scale) && is_one(to.zero))
    return c.call("qnn.requantize", {sum, scale, c.scalar(0, kInt32), to.scale, to.zero},
                  {{"axis", is_one(scale) ? -1 : axis},
                   {"rounding", "TONEVEN"},
                   {"compute_dtype", "float32"},
                   {"out_dtype", dtype}});
  const int rank = tensor_type(sum).rank();
  const Expr factor = f.div(f.along(scale, rank, axis), to.scale);
  return quantized_by_parts(c, f.mul(f.cast(sum, kFloat32), factor), to.zero, dtype, dtype.bits);
}

Quantized quantized_by_range(const Conversion& c, const Expr& x) {
  const Formulas f(c);
  const Expr wide = f.cast(x, kFloat32), zero = c.scalar(0, kFloat32);
  std::vector<int64_t> axes;
  for (int i = 0; i < tensor_type(x).rank(); ++i) axes.push_back(i);
  const Expr most = f.of("maximum", f.most(wide, axes, false), zero),
             least = f.of("minimum", f.least(wide, axes, false), zero), range = f.sub(most, least);
  const Expr all = f.where(f.of("equal", range, zero), c.scalar(1, kFloat32), range);
  const Expr scale = f.div(all, c.scalar(255, kFloat32));
  const Expr first = f.round_even(f.clipped(f.of("negative", f.div(least, scale)), 0, 255));
  const Expr data = f.cast(f.clipped(f.add(f.round_even(f.div(wide, scale)), first), 0, 255), kUInt8);
  return {data, {scale, f.cast(first, kInt32)}, f.cast(first, kUInt8)};
}

// ---- Products.

namespace {

Expr unit_scale(const Conversion& c) { return c.scalar(1, kFloat32); }

/// A vector of zero points as a column, one for each row of a matrix; others as they are.
Expr per_row(const Conversion& c, const Expr& zero) {
  return tensor_type(zero).rank() == 1 && !is_one(zero) ? c.call("expand_dims", {zero}, {{"axis", 1}}) : zero;
}

bool is_short(const Expr& x) { return tensor_type(x).dtype().bits == 8; }

/// Both with the same axes of batches, so that these are one.
bool has_equal_batches(const Expr& a, const Expr& b) {
  const std::vector<Dim>&left = tensor_type(a).shape(), &right = tensor_type(b).shape();
  return left.size() == right.size() && left.size() > 2 &&
         std::equal(left.begin(), left.end() - 2, right.begin());
}

Expr batches_of_integers(const Conversion& c, const Expr& a, const Expr& b, const Expr& zero_a,
                         const Expr& zero_b) {
  const int rank = tensor_type(a).rank();
  const auto flat = [&](Expr x) {
    for (int i = rank; i > 3; --i) x = c.reshape(x, {-3, -2});
    return x;
  };
  const Expr product =
      c.call("qnn.batch_matmul", {flat(a), flat(b), zero_a, zero_b, unit_scale(c), unit_scale(c)},
             {{"transpose_a", false}, {"transpose_b", false}, {"out_dtype", kInt32}});
  if (rank == 3) return product;
  std::vector<int64_t> shape;
  for (const Dim each : tensor_type(a).shape()) shape.push_back(each.is_any() ? -1 : each.value());
  shape.back() = last_extent(tensor_type(b)).is_any() ? -1 : last_extent(tensor_type(b)).value();
  if (std::ranges::count(shape, -1) > 1)
    throw c.not_supported("batches with several extents that are not known");
  return c.reshape(product, shape);
}

}  // namespace

Expr integer_product(Conversion& c, const Expr& a, const Expr& b, const Expr& zero_a, const Expr& zero_b) {
  const Formulas f(c);
  const bool shorts = is_short(a) && is_short(b) && is_one(zero_a);
  if (shorts && tensor_type(b).rank() == 2 && tensor_type(zero_b).rank() <= 1) {
    const Dim units = tensor_type(b).shape().at(1);
    if (!units.is_any())
      return c.call("qnn.dense", {a, c.transpose(b, {1, 0}), zero_a, zero_b, unit_scale(c), unit_scale(c)},
                    {{"units", units.value()}, {"out_dtype", kInt32}});
  }
  if (shorts && is_one(zero_b) && has_equal_batches(a, b))
    return batches_of_integers(c, a, b, zero_a, zero_b);
  return matrix_product(c, f.sub(f.cast(a, kInt32), per_row(c, zero_a)), f.sub(f.cast(b, kInt32), zero_b));
}

namespace {

/// The convolution of input `data` with `weight` in int32, each less its zero point.
struct IntegerConvolution {
  size_t data, weight;
  Expr zero_data, zero_weight;
};

Expr integer_convolution(Conversion& c, const IntegerConvolution& by) {
  std::vector<int64_t> kernel;
  const std::vector<Dim>& weights = c.type(by.weight).shape();
  for (const Dim each : weights) {
    if (each.is_any()) throw c.not_supported("weights whose shape is not known");
    kernel.push_back(each.value());
  }
  const int64_t channels = kernel.empty() ? 0 : kernel.front();
  kernel.erase(kernel.begin(), kernel.begin() + std::min<std::ptrdiff_t>(2, std::ssize(kernel)));
  Window window = window_of(c, kernel);
  const size_t axes = window.axes();
  if (axes < 1 || axes > 3) throw c.not_supported("layers over " + std::to_string(axes) + " spatial axes");
  const Formulas f(c);
  Expr data = c[by.data], weight = c[by.weight];
  if (axes == 3) {
    data = f.sub(f.cast(data, kInt16), f.cast(by.zero_data, kInt16));
    weight = f.sub(f.cast(weight, kInt16), f.cast(f.along(by.zero_weight, 5, 0), kInt16));
  } else if (axes == 1) {  // one row of an image
    data = f.expanded(data, 2), weight = f.expanded(weight, 2);
    window.kernel.insert(window.kernel.begin(), 1), window.strides.insert(window.strides.begin(), 1);
    window.dilations.insert(window.dilations.begin(), 1);
    window.before.insert(window.before.begin(), 0), window.after.insert(window.after.begin(), 0);
  }
  const NamedAttrs attrs{{"strides", window.strides},    {"padding", window.padding()},
                         {"dilation", window.dilations}, {"groups", c.integer("group", 1)},
                         {"channels", channels},         {"kernel_size", window.kernel},
                         {"out_dtype", kInt32}};
  if (axes == 3) return c.call("nn.conv3d", {data, weight}, attrs);
  const Expr image =
      c.call("qnn.conv2d", {data, weight, by.zero_data, by.zero_weight, unit_scale(c), unit_scale(c)}, attrs);
  return axes == 1 ? f.squeezed(image, {2}) : image;
}

// ---- QuantizeLinear and its inverse.

/// A scale or zero point of blocks along `axis`, repeated for all of their elements; others as they are.
Expr over_blocks(const Conversion& c, const Expr& value, int axis, int64_t block, const Expr& data) {
  const TensorTypeNode& type = tensor_type(data);
  if (block == 0 || is_one(value)) return value;
  const Dim extent = type.shape().at(static_cast<size_t>(axis));
  if (extent.is_any()) throw c.not_supported("blocks along an axis whose extent is not known");
  const Expr all = c.call("repeat", {value}, {{"repeats", block}, {"axis", axis}});
  const Dim own = tensor_type(all).shape().at(static_cast<size_t>(axis));
  return own == extent ? all : Formulas(c).sliced(all, axis, 0, extent.value());
}

int quantization_axis(const Conversion& c, const Expr& data, const Expr& scale) {
  return is_one(scale) ? 0 : c.axis(c.integer("axis", 1), tensor_type(data).rank());
}

int64_t block_size(const Conversion& c) {
  const int64_t block = c.integer("block_size", 0);
  if (block < 0) throw c.error("`block_size` is " + std::to_string(block));
  return block;
}

/// What the result's elements are: by the zero point, by `output_dtype`, else uint8.
struct ElementKind {
  DType dtype = kUInt8;
  int bits = 8;
};

ElementKind result_kind(const Conversion& c) {
  if (c.has(2)) {
    const DType dtype = tensor_type(c.packed(2)).dtype();
    return {dtype, c.bits_of(2) != 0 ? c.bits_of(2) : dtype.bits};
  }
  const AttributeFile* given = c.attribute("output_dtype");
  if (!given || given->i == 0) return {};
  const auto element = static_cast<Element>(given->i);
  const std::optional<DType> dtype = dtype_of(element);
  if (!dtype || dtype->is_float()) throw c.not_supported("results of type " + element_name(element));
  return {*dtype, is_packed(element) ? packed_bits(element) : dtype->bits};
}

Values quantize_linear(Conversion& c) {
  const Formulas f(c);
  const ElementKind to = result_kind(c);
  const Expr x = c[0];
  const int axis = quantization_axis(c, x, c[1]), rank = c.rank(0);
  const int64_t block = block_size(c);
  const Quantization by = quantization_of(c, 1, 2);
  if (block == 0 && to.bits == to.dtype.bits && c.dtype(0) == kFloat32)
    return {quantized(c, x, by, axis, to.dtype)};
  // In the precision of the scale, or the one that is asked for; then in float32.
  const auto spread = [&](const Expr& value) {
    const Expr all = over_blocks(c, value, axis, block, x);
    return block == 0 ? f.along(all, rank, axis) : all;
  };
  const DType precision = c.element_type("precision", c.dtype(1));
  const Expr scaled = f.div(f.cast(x, precision), f.cast(spread(by.scale), precision));
  Value result(quantized_by_parts(c, f.cast(scaled, kFloat32), spread(by.zero), to.dtype, to.bits));
  if (to.bits != to.dtype.bits) result.packed_bits = to.bits;
  return {result};
}

Values dequantize_linear(Conversion& c) {
  const Formulas f(c);
  const Expr x = c.packed(0);
  const int axis = quantization_axis(c, x, c[1]);
  const int64_t block = block_size(c);
  const DType out = c.element_type("output_dtype", c.dtype(1));
  Quantization by = quantization_of(c, 1, 2);
  if (block != 0) {
    by = {over_blocks(c, by.scale, axis, block, x), over_blocks(c, by.zero, axis, block, x)};
    const Expr moved = f.sub(f.cast(x, kInt32), by.zero);
    return {f.cast(f.mul(f.cast(moved, kFloat32), f.cast(by.scale, kFloat32)), out)};
  }
  return {f.cast(dequantized(c, x, by, axis), out)};
}

Values dynamic_quantize_linear(Conversion& c) {
  const Quantized made = quantized_by_range(c, c[0]);
  return {made.data, made.by.scale, made.zero};
}

// ---- Layers.

Values qlinear_conv(Conversion& c) {
  const DType out = c.has(7) ? c.dtype(7) : c.dtype(0);
  Expr sum = integer_convolution(c, {0, 3, zero_point(c, 2), zero_point(c, 5)});
  if (c.has(8)) sum = c.call("nn.bias_add", {sum, c[8]}, {{"axis", 1}});
  return {requantized(c, sum, scale_product(c, c[1], c[4]), 1, quantization_of(c, 6, 7), out)};
}

Values conv_integer(Conversion& c) {
  return {integer_convolution(c, {0, 1, zero_point(c, 2), zero_point(c, 3)})};
}

Values matmul_integer(Conversion& c) {
  return {integer_product(c, c[0], c[1], zero_point(c, 2), zero_point(c, 3))};
}

Values qlinear_matmul(Conversion& c) {
  const Expr sum = integer_product(c, c[0], c[3], zero_point(c, 2), zero_point(c, 5));
  const DType out = c.has(7) ? c.dtype(7) : c.dtype(0);
  Expr a = c[1], to = c[6];
  const bool rows = !is_one(a) || !is_one(to);
  if (rows) a = per_row(c, a), to = per_row(c, to);
  const Expr b = c[4];
  const bool columns = tensor_type(b).rank() <= 1;
  const Expr scale = rows || !columns ? c.call("multiply", {c.cast(a, kFloat32), c.cast(b, kFloat32)})
                                      : scale_product(c, c.cast(a, kFloat32), c.cast(b, kFloat32));
  return {requantized(c, sum, scale, tensor_type(sum).rank() - 1,
                      {c.cast(to, kFloat32), per_row(c, zero_point(c, 7))}, out)};
}

}  // namespace

const std::vector<Operator>& quantized_operators() {
  static const std::vector<Operator> all = {
      {"", "ConvInteger", {10}, &conv_integer},
      {"", "DequantizeLinear", {10, 13, 19, 21, 23, 24, 25, 28}, &dequantize_linear},
      {"", "DynamicQuantizeLinear", {11}, &dynamic_quantize_linear},
      {"", "MatMulInteger", {10}, &matmul_integer},
      {"", "QLinearConv", {10}, &qlinear_conv},
      {"", "QLinearMatMul", {10, 21}, &qlinear_matmul},
      {"", "QuantizeLinear", {10, 13, 19, 21, 23, 24, 25, 28}, &quantize_linear},
      {"com.microsoft", "DequantizeLinear", {1}, &dequantize_linear},
      {"com.microsoft", "QuantizeLinear", {1}, &quantize_linear},
  };
  return all;
}

}  // namespace baton::onnx
