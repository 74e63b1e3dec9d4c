// Layers that ONNX Runtime's optimisers write: normalizations with what comes before them, activations with
// biases, products with transpositions and activations.
#include <algorithm>
#include <cmath>

#include "baton/frontend/onnx/operators.h"
#include "baton/frontend/onnx/ops/attention.h"
#include "baton/frontend/onnx/ops/formulas.h"
#include "baton/frontend/onnx/ops/microsoft.h"
#include "baton/frontend/onnx/ops/normalization.h"
#include "baton/frontend/onnx/ops/products.h"

namespace baton::onnx {

Expr gelu_by_erf(const Formulas& f, const Expr& x) {
  return f.mul(f.scaled(0.5, x), f.plus(f.of("erf", f.scaled(std::sqrt(0.5), x)), 1));
}

namespace {

// ---- Activations.

Values bias_gelu(Conversion& c) {
  const Formulas f(c);
  return {gelu_by_erf(f, f.add(c[0], c[1]))};
}

Values plain_gelu(Conversion& c) { return {gelu_by_erf(Formulas(c), c[0])}; }

/// By tanh of a polynomial.
Values fast_gelu(Conversion& c) {
  const Formulas f(c);
  const Expr x = c.has(1) ? f.add(c[0], c[1]) : c[0];
  const Expr cube = f.mul(f.mul(x, x), x);
  const Expr inner = f.scaled(std::sqrt(2 / M_PI), f.add(x, f.scaled(0.044715, cube)));
  return {f.mul(f.scaled(0.5, x), f.plus(f.of("tanh", inner), 1))};
}

Values quick_gelu(Conversion& c) {
  const Formulas f(c);
  return {f.mul(c[0], f.of("sigmoid", f.scaled(c.number("alpha", 1.702), c[0])))};
}

/// The activation that attributes name, with its numbers.
Expr activated_by(const Conversion& c, const Expr& x, const std::string& name,
                  const std::vector<double>& numbers) {
  const Formulas f(c);
  const auto number = [&](size_t i, double otherwise) {
    return i < numbers.size() ? numbers.at(i) : otherwise;
  };
  if (name.empty()) return x;
  if (name == "Relu") return f.of("nn.relu", x);
  if (name == "Tanh") return f.of("tanh", x);
  if (name == "Sigmoid") return f.of("sigmoid", x);
  if (name == "LeakyRelu") return c.call("nn.leaky_relu", {x}, {{"alpha", number(0, 0.01)}});
  if (name == "Clip") return f.clipped(x, number(0, -3.402823466e+38), number(1, 3.402823466e+38));
  if (name == "HardSigmoid") return f.clipped(f.plus(f.scaled(number(0, 0.2), x), number(1, 0.5)), 0, 1);
  throw c.not_supported("activations \"" + name + "\"");
}

// ---- Products.

Values fused_conv(Conversion& c) {
  Values inputs(c.inputs().begin(), c.inputs().begin() + std::min<std::ptrdiff_t>(3, std::ssize(c.inputs())));
  Expr result = as_standard(c, "Conv", 11, std::move(inputs)).front().tensor;
  if (c.has(3)) result = c.call("add", {result, c[3]});
  return {activated_by(c, result, c.text("activation", ""),
                       c.numbers_of("activation_params").value_or(std::vector<double>()))};
}

Values fused_gemm(Conversion& c) {
  std::vector<double> numbers;
  for (const char* name : {"activation_alpha", "activation_beta"})
    if (c.has_attribute(name)) numbers.push_back(c.number(name, 0));
  const Expr result = as_standard(c, "Gemm", 13, c.inputs()).front().tensor;
  return {activated_by(c, result, c.text("activation", ""), numbers)};
}

/// The first axis moved before the last; then the last two exchanged.
Expr transposed(const Conversion& c, const Expr& x, bool batch, bool last) {
  const int rank = tensor_type(x).rank();
  if (rank < 2) return x;
  std::vector<int64_t> axes;
  for (int i = 0; i < rank; ++i) axes.push_back(i);
  if (batch) std::rotate(axes.begin(), axes.begin() + 1, axes.end() - 1);
  if (last) std::swap(axes.at(axes.size() - 1), axes.at(axes.size() - 2));
  return c.transpose(x, axes);
}

Values fused_matmul(Conversion& c) {
  const auto is = [&](const char* name) { return c.integer(name, 0) != 0; };
  const Expr product = matrix_product(c, transposed(c, c[0], is("transBatchA"), is("transA")),
                                      transposed(c, c[1], is("transBatchB"), is("transB")));
  return {Formulas(c).scaled(c.number("alpha", 1), product)};
}

/// Distances of all pairs of rows.
Values distances(Conversion& c) {
  const Formulas f(c);
  const std::string metric = c.text("metric", "sqeuclidean");
  if (metric != "sqeuclidean" && metric != "euclidean") throw c.not_supported("distances \"" + metric + "\"");
  const Expr between = f.sub(f.expanded(c[0], 1), f.expanded(c[1], 0));
  const Expr squares = f.sum(f.mul(between, between), {2}, false);
  return {metric == "euclidean" ? f.of("sqrt", squares) : squares};
}

// ---- Normalizations.

Values skip_norm(Conversion& c, bool centres) {
  const Formulas f(c);
  const size_t bias = centres ? 4 : 3;
  Expr sum = f.add(c[0], c[1]);
  if (c.has(bias)) sum = f.add(sum, c[bias]);
  const LastAxes how{sum,
                     c[2],
                     centres && c.has(3) ? c[3] : Expr(),
                     c.rank(0) - 1,
                     c.number("epsilon", 1e-5),
                     centres,
                     c.wants(1) || c.wants(2)};
  const Normalized made = normalized(c, how, stash_for(c.dtype(0)));
  return {made.result, made.mean, made.inverse, sum};
}
Values skip_layer_norm(Conversion& c) { return skip_norm(c, true); }
Values skip_rms_norm(Conversion& c) { return skip_norm(c, false); }

Values embed_layer_norm(Conversion& c) {
  const Formulas f(c);
  const auto rows = [&](const Expr& table, const Expr& at) {
    return c.call("take", {table, at}, {{"axis", 0}});
  };
  const Expr places = c.has(8) ? c[8] : f.positions(c[0], 1);
  Expr sum = f.add(rows(c[2], c[0]), rows(c[3], places));
  if (c.has(1) && c.has(4)) sum = f.add(sum, rows(c[4], c[1]));
  const LastAxes how{sum, c[5], c[6], 2, c.number("epsilon", 1e-12)};
  // How many words each sentence has.
  const Expr words = c.has(7) ? f.sum(f.cast(c[7], kInt32), {1}, false)
                              : f.sum(f.cast(f.of("zeros_like", c[0]), kInt32), {1}, false);
  return {normalized(c, how, stash_for(c.dtype(2))).result, words, sum};
}

// ---- Old ones.

template <int64_t kVersion>
Values standard(Conversion& c) {
  return as_standard(c, c.node.op_type, kVersion, c.inputs());
}

Values expand_dims(Conversion& c) {
  const int64_t axis = c.required_numbers(1, "axes").at(0);
  return {c.call("expand_dims", {c[0]}, {{"axis", c.axis(axis, c.rank(0) + 1)}})};
}

Values inverse(Conversion& c) { throw c.not_supported("inverses of matrices"); }

Values crop_and_resize(Conversion& c) {
  const std::vector<int64_t> size = c.required_numbers(3, "sizes of crops");
  const std::string mode = c.text("mode", "bilinear");
  if (size.size() != 2) throw c.error("its size of crops is not 2 numbers");
  return {c.call("image.crop_and_resize", {c[0], c[1], c[2]},
                 {{"crop_size", size},
                  {"layout", "NCHW"},
                  {"method", mode == "nearest" ? "nearest_neighbor" : mode},
                  {"extrapolation_value", c.number("extrapolation_value", 0)}})};
}

/// Padding takes elements away from the result.
Values conv_transpose_with_pads(Conversion& c) {
  Values inputs{c.value(0), c.value(1)};
  if (c.has(3)) inputs.push_back(c.value(3));
  Expr result = as_standard(c, "ConvTranspose", 11, std::move(inputs)).front().tensor;
  if (!c.has(2)) return {result};
  const std::vector<int64_t> pads = c.required_numbers(2, "pads");
  const int axes = c.rank(0) - 2;
  if (std::ssize(pads) != 2 * axes)
    throw c.error("its pads are not " + std::to_string(2 * axes) + " numbers");
  for (int i = 0; i < axes; ++i) {
    const int64_t extent = known(c, tensor_type(result).shape().at(static_cast<size_t>(i) + 2), "results");
    result = Formulas(c).sliced(result, i + 2, pads.at(static_cast<size_t>(i)),
                                extent - pads.at(static_cast<size_t>(i + axes)));
  }
  return {result};
}

}  // namespace

const std::vector<Operator>& microsoft_layers() {
  static const std::vector<Operator> all = {
      {"com.microsoft", "BiasGelu", {1}, &bias_gelu},
      {"com.microsoft", "CDist", {1}, &distances},
      {"com.microsoft", "ConvTransposeWithDynamicPads", {1}, &conv_transpose_with_pads},
      {"com.microsoft", "CropAndResize", {1}, &crop_and_resize},
      {"com.microsoft", "EmbedLayerNormalization", {1}, &embed_layer_norm},
      {"com.microsoft", "ExpandDims", {1}, &expand_dims},
      {"com.microsoft", "FastGelu", {1}, &fast_gelu},
      {"com.microsoft", "FusedConv", {1}, &fused_conv},
      {"com.microsoft", "FusedGemm", {1}, &fused_gemm},
      {"com.microsoft", "FusedMatMul", {1}, &fused_matmul},
      {"com.microsoft", "Gelu", {1}, &plain_gelu},
      {"com.microsoft", "GridSample", {1}, &standard<16>},
      {"com.microsoft", "Inverse", {1}, &inverse},
      {"com.microsoft", "Pad", {1}, &standard<13>},
      {"com.microsoft", "QuickGelu", {1}, &quick_gelu},
      {"com.microsoft", "SkipLayerNormalization", {1}, &skip_layer_norm},
      {"com.microsoft", "SkipSimplifiedLayerNormalization", {1}, &skip_rms_norm},
      {"com.microsoft", "Trilu", {1}, &standard<14>},
  };
  return all;
}

}  // namespace baton::onnx
