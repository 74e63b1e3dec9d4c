// Quantised operators of com.microsoft. Where there is no product of integers they compute in float32 between
// qnn.dequantize and qnn.quantize, which FakeQuantizationToInteger makes integers of where it can.
#include <algorithm>
#include <array>

#include "baton/frontend/onnx/operators.h"
#include "baton/frontend/onnx/ops/attention.h"
#include "baton/frontend/onnx/ops/formulas.h"
#include "baton/frontend/onnx/ops/microsoft.h"
#include "baton/frontend/onnx/ops/microsoft_attention.h"
#include "baton/frontend/onnx/ops/normalization.h"
#include "baton/frontend/onnx/ops/products.h"
#include "baton/frontend/onnx/ops/quantized.h"
#include "baton/frontend/onnx/ops/recurrent.h"
#include "baton/ir/op_names.h"

namespace baton::onnx {

namespace {

/// Input `data`, whose scale and zero point are the two behind it.
Expr as_float(const Conversion& c, size_t data) {
  return dequantized(c, c[data], quantization_of(c, data + 1, data + 2), 0);
}

/// In the quantisation of inputs `scale` and the one behind it.
Values as_integers(const Conversion& c, const Expr& x, size_t scale) {
  const DType dtype = c.has(scale + 1) ? c.dtype(scale + 1) : c.dtype(0);
  return {quantized(c, x, quantization_of(c, scale, scale + 1), 0, dtype)};
}

// ---- Elementwise.

template <const char* kOp>
Values qlinear_binary(Conversion& c) {
  return as_integers(c, c.call(kOp, {as_float(c, 0), as_float(c, 3)}), 6);
}
constexpr char kQuantizedAdd[] = "add", kQuantizedMul[] = "multiply";

Values qlinear_sigmoid(Conversion& c) { return as_integers(c, c.call("sigmoid", {as_float(c, 0)}), 3); }

Values qlinear_leaky_relu(Conversion& c) {
  return as_integers(c, c.call("nn.leaky_relu", {as_float(c, 0)}, {{"alpha", c.number("alpha", 0.01)}}), 3);
}

Values qlinear_where(Conversion& c) {
  return as_integers(c, c.call("where", {c[0], as_float(c, 1), as_float(c, 4)}), 7);
}

Values qlinear_concat(Conversion& c) {
  const Formulas f(c);
  const DType dtype = c.dtype(1);
  const Quantization to = quantization_of(c, 0, 1);
  std::vector<Expr> parts;
  for (size_t i = 2; i + 2 < c.count(); i += 3) {
    const Quantization from = quantization_of(c, i + 1, i + 2);
    parts.push_back(c.call("qnn.requantize", {c[i], from.scale, from.zero, to.scale, to.zero},
                           {{"rounding", "TONEVEN"}, {"compute_dtype", "float32"}, {"out_dtype", dtype}}));
  }
  if (parts.empty()) throw c.error("it has no tensors to concatenate");
  return {f.joined(parts, c.axis(c.required_integer("axis"), tensor_type(parts.front()).rank()))};
}

// ---- Softmax and pools.

Values qlinear_softmax(Conversion& c) {
  const Values made = as_standard(c, "Softmax", c.integer("opset", 13), {as_float(c, 0)});
  return as_integers(c, made.front().tensor, 3);
}

/// `name`, a pool of ai.onnx, with channels behind where the node has them there.
Values qlinear_pool(Conversion& c, const char* name, int64_t version) {
  const bool last = c.integer("channels_last", 0) != 0;
  const int rank = c.rank(0);
  std::vector<int64_t> to{0, rank - 1}, back{0};
  for (int i = 1; i < rank - 1; ++i) to.push_back(i), back.push_back(i + 1);
  back.push_back(1);
  const Expr x = as_float(c, 0);
  const Expr pooled = as_standard(c, name, version, {last ? c.transpose(x, to) : x}).front().tensor;
  return as_integers(c, last ? c.transpose(pooled, back) : pooled, 3);
}
Values qlinear_average_pool(Conversion& c) { return qlinear_pool(c, "AveragePool", 11); }
Values qlinear_global_average_pool(Conversion& c) { return qlinear_pool(c, "GlobalAveragePool", 1); }

// ---- Products.

/// `sum` (int32) times the scales of rows and columns.
Expr scaled_sum(const Conversion& c, const Expr& sum, const Expr& a, const Expr& b) {
  const Formulas f(c);
  return f.mul(f.cast(sum, kFloat32), scale_product(c, a, b));
}

Values matmul_integer_to_float(Conversion& c) {
  const Formulas f(c);
  const Expr sum = integer_product(c, c[0], c[1], zero_point(c, 4), zero_point(c, 5));
  const Expr result = scaled_sum(c, sum, f.cast(c[2], kFloat32), f.cast(c[3], kFloat32));
  return {f.cast(c.has(6) ? f.add(result, f.cast(c[6], kFloat32)) : result, c.dtype(2))};
}

Values dynamic_quantize_matmul(Conversion& c) {
  const Quantized a = quantized_by_range(c, c[0]);
  const Expr sum = integer_product(c, a.data, c[1], a.by.zero, zero_point(c, 3));
  const Expr result = scaled_sum(c, sum, a.by.scale, c[2]);
  return {c.has(4) ? c.call("add", {result, c[4]}) : result};
}

Values matmul_integer16(Conversion& c) {
  const Formulas f(c);
  const DType out = c.dtype(0).is_uint() && c.dtype(1).is_uint() ? DType::uint_(32) : kInt32;
  return {f.cast(matrix_product(c, f.cast(c[0], kInt32), f.cast(c[1], kInt32)), out)};
}

Values qgemm(Conversion& c) {
  const Formulas f(c);
  const auto matrix = [&](size_t input, const char* transposed) {
    return c.integer(transposed, 0) != 0 ? c.transpose(c[input], {1, 0}) : c[input];
  };
  Expr sum = integer_product(c, matrix(0, "transA"), matrix(3, "transB"), zero_point(c, 2), zero_point(c, 5));
  if (c.has(6)) sum = f.add(sum, c[6]);
  const double alpha = c.number("alpha", 1);
  Expr scale = scale_product(c, c[1], c[4]);
  if (alpha != 1)
    scale = scale_product(
        c, c.constant(NDArray::of<float>({}, std::vector<float>{static_cast<float>(alpha)}, kFloat32)),
        scale);
  if (!c.has(7)) return {f.mul(f.cast(sum, kFloat32), scale)};
  return {requantized(c, sum, scale, 1, quantization_of(c, 7, 8), c.has(8) ? c.dtype(8) : c.dtype(0))};
}

Values qattention(Conversion& c) {
  const Formulas f(c);
  const Expr sum = integer_product(c, c[0], c[1], zero_point(c, 6), zero_point(c, 7));
  const Expr all = f.add(scaled_sum(c, sum, c[3], c[4]), c[2]);
  return attention_of_projection(c, all, {5, 8, c.count()});
}

Values qembed_layer_norm(Conversion& c) {
  const Formulas f(c);
  // The scale of an input is 8 to 12, its zero point 13 to 17, in the order of the inputs.
  const auto number = [&](const Expr& x, size_t index) {
    return dequantized(c, x, quantization_of(c, 8 + index, 13 + index), 0);
  };
  const auto rows = [&](size_t table, const Expr& at, size_t index) {
    return number(c.call("take", {c[table], at}, {{"axis", 0}}), index);
  };
  Expr sum = f.add(rows(2, c[0], 0), rows(3, f.positions(c[0], 1), 1));
  if (c.has(1) && c.has(4)) sum = f.add(sum, rows(4, c[1], 2));
  const LastAxes how{sum, number(c[5], 3), number(c[6], 4), 2, c.number("epsilon", 1e-12)};
  const Expr words = c.has(7) ? f.sum(f.cast(c[7], kInt32), {1}, false)
                              : f.sum(f.cast(f.of("zeros_like", c[0]), kInt32), {1}, false);
  return {normalized(c, how, kFloat32).result, words};
}

// ---- LSTM: data and hidden states are quantised as they come.

Values dynamic_quantize_lstm(Conversion& c) {
  const auto by = [&c](size_t weight, size_t scale) {
    return [&c, weight, scale](int64_t direction, const Expr& data) {
      const Formulas f(c);
      const auto own = [&](const Expr& all) { return f.taken(all, 0, direction); };
      const Quantized x = quantized_by_range(c, data);
      Conversion inner = c.with(c.version, c.inputs());
      const Expr sum =
          integer_product(inner, x.data, own(c[weight]), x.by.zero, own(zero_point(c, scale + 1)));
      return f.mul(f.cast(sum, kFloat32), f.mul(x.by.scale, own(c[scale])));
    };
  };
  if (c.rank(2) != 3) throw c.error("its weights are not of rank 3");
  const int64_t hidden = known(c, c.type(2).shape().at(1), "weights");
  return lstm_by(c, {by(1, 8), by(2, 10)}, {}, hidden);
}

// ---- Weights of few bits, unpacked while importing.

const NDArray& constant_input(const Conversion& c, size_t input, DType dtype) {
  const ConstantNode* known = c.constant(input);
  if (!known) throw c.not_supported("weights that are computed at run time");
  if (known->value().dtype() != dtype)
    throw c.error("input " + std::to_string(input) + " is of type " + known->value().dtype().str());
  return known->value();
}

/// Element `index` of a row of packed ones, the lowest bits first.
uint8_t unpacked_bits(const uint8_t* row, int64_t index, int bits) {
  const int64_t per_byte = 8 / bits;
  return static_cast<uint8_t>(row[index / per_byte] >> (index % per_byte * bits) & ((1 << bits) - 1));
}

int checked_bits(const Conversion& c, int64_t otherwise) {
  const int64_t bits = c.integer("bits", otherwise);
  if (bits != 2 && bits != 4 && bits != 8)
    throw c.not_supported("weights of " + std::to_string(bits) + " bits");
  return static_cast<int>(bits);
}

/// The zero points of blocks: packed as the weights are, in the type of the scales, or the middle.
Expr block_zeros(const Conversion& c, size_t input, int64_t rows, int64_t blocks, int bits) {
  std::vector<float> zeros(c.table_size({rows, blocks}), static_cast<float>(1 << (bits - 1)));
  if (c.has(input) && c.dtype(input) != kUInt8)
    return c.reshape(c.cast(c[input], kFloat32), {rows, blocks, 1});
  if (c.has(input)) {
    const NDArray& packed = constant_input(c, input, kUInt8);
    const int64_t bytes = (blocks * bits + 7) / 8;
    if (packed.size() != rows * bytes)
      throw c.error("its zero points are not " + std::to_string(rows * bytes) + " bytes");
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t block = 0; block < blocks; ++block)
        zeros[static_cast<size_t>(row * blocks + block)] =
            unpacked_bits(packed.as<uint8_t>().data() + row * bytes, block, bits);
  }
  return c.constant(NDArray::of<float>({rows, blocks, 1}, zeros, kFloat32));
}

Expr dense_with(const Conversion& c, const Expr& data, const Expr& weight, int64_t units) {
  return summed(c, op_names::kDense, {data, weight}, {{"units", units}});
}

Values matmul_nbits(Conversion& c) {
  const Formulas f(c);
  const int bits = checked_bits(c, 4);
  const int64_t n = c.required_integer("N"), k = c.required_integer("K"),
                block = c.required_integer("block_size");
  if (n < 1 || k < 1 || block < 1) throw c.error("`N`, `K` or `block_size` is below 1");
  if (c.integer("weight_prepacked", 0) != 0) throw c.not_supported("weights in the order of one machine");
  if (c.has(4)) throw c.not_supported("indices of groups (`g_idx`)");
  const NDArray& packed = constant_input(c, 1, kUInt8);
  const int64_t blocks = (k + block - 1) / block, bytes = block * bits / 8;
  if (packed.size() != n * blocks * bytes)
    throw c.error("its weight is not " + std::to_string(n * blocks * bytes) + " bytes");
  NDArray all = NDArray::empty({n, blocks, block}, kUInt8);
  for (int64_t row = 0; row < n * blocks; ++row)
    for (int64_t i = 0; i < block; ++i)
      all.as<uint8_t>()[static_cast<size_t>(row * block + i)] =
          unpacked_bits(packed.as<uint8_t>().data() + row * bytes, i, bits);
  const Expr numbers = f.sub(f.cast(c.constant(all), kFloat32), block_zeros(c, 3, n, blocks, bits));
  Expr weight = f.mul(numbers, c.reshape(f.cast(c[2], kFloat32), {n, blocks, 1}));
  weight = c.reshape(weight, {n, blocks * block});
  if (blocks * block != k) weight = f.sliced(weight, 1, 0, k);
  const DType type = c.dtype(0);
  const Expr result = dense_with(c, c[0], f.cast(weight, type), n);
  return {c.has(5) ? f.add(result, c[5]) : result};
}

/// The numbers of 4 bits of the paper of QLoRA (NF4), and floats of 4 bits with 3 of them for the exponent.
constexpr std::array<float, 16> kNormalFloats = {-1.0F,
                                                 -0.6961928009986877F,
                                                 -0.5250730514526367F,
                                                 -0.39491748809814453F,
                                                 -0.28444138169288635F,
                                                 -0.18477343022823334F,
                                                 -0.09105003625154495F,
                                                 0.0F,
                                                 0.07958029955625534F,
                                                 0.16093020141124725F,
                                                 0.24611230194568634F,
                                                 0.33791524171829224F,
                                                 0.44070982933044434F,
                                                 0.5626170039176941F,
                                                 0.7229568362236023F,
                                                 1.0F};
constexpr std::array<float, 16> kShortFloats = {
    0.0F,  5.208333333e-03F,  0.66666667F,  1.0F,  0.33333333F,  0.5F,  0.16666667F,  0.25F,
    -0.0F, -5.208333333e-03F, -0.66666667F, -1.0F, -0.33333333F, -0.5F, -0.16666667F, -0.25F};

Values matmul_bnb4(Conversion& c) {
  const Formulas f(c);
  const int64_t n = c.required_integer("N"), k = c.required_integer("K"),
                block = c.required_integer("block_size"), kind = c.required_integer("quant_type");
  if (n < 1 || k < 1 || block < 1 || kind < 0 || kind > 1) throw c.error("an attribute is out of its range");
  const NDArray& packed = constant_input(c, 1, kUInt8);
  const int64_t count = n * k, blocks = (count + block - 1) / block;
  if (packed.size() != (count + 1) / 2)
    throw c.error("its weight is not " + std::to_string((count + 1) / 2) + " bytes");
  const auto& table = kind == 1 ? kNormalFloats : kShortFloats;
  std::vector<float> numbers(static_cast<size_t>(blocks * block), 0);
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t byte = packed.as<uint8_t>()[static_cast<size_t>(i / 2)];
    numbers.at(static_cast<size_t>(i)) = table[i % 2 == 0 ? byte >> 4 : byte & 15];  // the highest bits first
  }
  const Expr all = c.constant(NDArray::of<float>({blocks, block}, numbers, kFloat32));
  Expr weight = c.reshape(f.mul(all, c.reshape(f.cast(c[2], kFloat32), {blocks, 1})), {-1});
  if (blocks * block != count) weight = f.sliced(weight, 0, 0, count);
  weight = f.cast(c.reshape(weight, {n, k}), c.dtype(0));
  if (c.integer("transB", 1) != 0) return {dense_with(c, c[0], weight, n)};
  return {dense_with(c, c[0], c.transpose(weight, {1, 0}), k)};
}

/// Rows are taken as they are, and become numbers then.
Values gather_block_quantized(Conversion& c) {
  const Formulas f(c);
  const int64_t block = c.integer("block_size", 128);
  Expr data = c.packed(0), zeros = c.has(3) ? f.cast(c.packed(3), kInt32) : Expr();
  const int rank = tensor_type(data).rank();
  const int axis = c.axis(c.integer("gather_axis", 0), rank),
            along = c.axis(c.integer("quantize_axis", 1), rank);
  if (axis == along) throw c.not_supported("blocks along the axis of rows");
  if (block < 1) throw c.error("`block_size` is " + std::to_string(block));
  double middle = 0;
  if (c.bits_of(0) == 0) {
    const int bits = checked_bits(c, 4);
    middle = 1 << (bits - 1);
    const auto wide = [&](size_t input) {
      const NDArray& packed = constant_input(c, input, kUInt8);
      Shape shape = packed.shape();
      if (packed.size() == 0) throw c.error("input " + std::to_string(input) + " is empty");
      const int64_t bytes = shape.at(shape.size() - 1);
      shape.back() *= 8 / bits;
      NDArray all = NDArray::empty(shape, kUInt8);
      for (int64_t i = 0; i < all.size(); ++i)
        all.as<uint8_t>()[static_cast<size_t>(i)] =
            unpacked_bits(packed.as<uint8_t>().data() + i / shape.back() * bytes, i % shape.back(), bits);
      return c.constant(all);
    };
    data = wide(0);
    if (zeros) {
      zeros = f.cast(wide(3), kInt32);
      const int64_t blocks = known(c, last_extent(c.type(2)), "scales");
      if (last_extent(tensor_type(zeros)) != Dim(blocks)) zeros = f.sliced(zeros, rank - 1, 0, blocks);
    }
  }
  const DType index = c.dtype(1);
  const Dim count = tensor_type(data).shape().at(static_cast<size_t>(axis));
  const Expr negative = f.of("less", c[1], c.scalar(0, index));
  const Expr rows = f.where(negative, f.plus(c[1], static_cast<double>(known(c, count, "rows"))), c[1]);
  const auto taken = [&](const Expr& of) { return c.call("take", {of, rows}, {{"axis", axis}}); };
  // Where the quantised axis is after the rows are taken.
  const int moved = along < axis ? along : along + c.rank(1) - 1;
  const int64_t extent = known(c, tensor_type(data).shape().at(static_cast<size_t>(along)), "blocks");
  const auto over = [&](const Expr& of) {
    const Expr all = c.call("repeat", {taken(of)}, {{"repeats", block}, {"axis", moved}});
    return tensor_type(all).shape().at(static_cast<size_t>(moved)) == Dim(extent)
               ? all
               : f.sliced(all, moved, 0, extent);
  };
  const Expr numbers = f.cast(taken(data), kInt32);
  const Expr centred = zeros ? f.sub(numbers, over(zeros)) : f.plus(numbers, -middle);
  return {f.cast(f.mul(f.cast(centred, kFloat32), f.cast(over(c[2]), kFloat32)), c.dtype(2))};
}

}  // namespace

const std::vector<Operator>& microsoft_quantized() {
  static const std::vector<Operator> all = {
      {"com.microsoft", "DynamicQuantizeLSTM", {1}, &dynamic_quantize_lstm},
      {"com.microsoft", "DynamicQuantizeMatMul", {1}, &dynamic_quantize_matmul},
      {"com.microsoft", "GatherBlockQuantized", {1}, &gather_block_quantized},
      {"com.microsoft", "MatMulBnb4", {1}, &matmul_bnb4},
      {"com.microsoft", "MatMulInteger16", {1}, &matmul_integer16},
      {"com.microsoft", "MatMulIntegerToFloat", {1}, &matmul_integer_to_float},
      {"com.microsoft", "MatMulNBits", {1}, &matmul_nbits},
      {"com.microsoft", "QAttention", {1}, &qattention},
      {"com.microsoft", "QEmbedLayerNormalization", {1}, &qembed_layer_norm},
      {"com.microsoft", "QGemm", {1}, &qgemm},
      {"com.microsoft", "QLinearAdd", {1}, &qlinear_binary<kQuantizedAdd>},
      {"com.microsoft", "QLinearAveragePool", {1}, &qlinear_average_pool},
      {"com.microsoft", "QLinearConcat", {1}, &qlinear_concat},
      {"com.microsoft", "QLinearGlobalAveragePool", {1}, &qlinear_global_average_pool},
      {"com.microsoft", "QLinearLeakyRelu", {1}, &qlinear_leaky_relu},
      {"com.microsoft", "QLinearMul", {1}, &qlinear_binary<kQuantizedMul>},
      {"com.microsoft", "QLinearSigmoid", {1}, &qlinear_sigmoid},
      {"com.microsoft", "QLinearSoftmax", {1}, &qlinear_softmax},
      {"com.microsoft", "QLinearWhere", {1}, &qlinear_where},
  };
  return all;
}

}  // namespace baton::onnx
