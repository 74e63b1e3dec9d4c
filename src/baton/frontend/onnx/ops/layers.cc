// Layers with weights: convolutions, products of matrices; and pools, softmax, reductions.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "baton/frontend/onnx/operators.h"
#include "baton/frontend/onnx/ops/formulas.h"
#include "baton/frontend/onnx/ops/products.h"
#include "baton/frontend/onnx/ops/symbolic_batches.h"
#include "baton/frontend/onnx/ops/windows.h"
#include "baton/ir/extent.h"
#include "baton/ir/op_names.h"

namespace baton::onnx {

namespace {

std::vector<int64_t> spatial_of(const Conversion& c, size_t input) {
  std::vector<int64_t> extents;
  const std::vector<Dim>& shape = c.type(input).shape();
  for (size_t i = 2; i < shape.size(); ++i) {
    if (shape.at(i).is_any()) throw c.not_supported("kernels of extents that are not known");
    extents.push_back(shape.at(i).value());
  }
  return extents;
}

Expr biased(Conversion& c, const Expr& data, size_t input, int axis = 1) {
  return c.has(input) ? c.call("nn.bias_add", {data, c[input]}, {{"axis", axis}}) : data;
}

Values conv(Conversion& c) {
  if (windows_wait(c)) return c.later(c.rank(0), c.dtype(0));
  const Window window = window_of(c, spatial_of(c, 1));
  const size_t axes = checked_axes(c, window.axes());
  const Dim channels = c.type(1).shape().at(0);
  const Expr result = summed(c, by_axes("nn.conv", axes), {c[0], c[1]},
                             {{"strides", window.strides},
                              {"padding", window.padding()},
                              {"dilation", window.dilations},
                              {"groups", c.integer("group", 1)},
                              {"channels", channels.value()},
                              {"kernel_size", window.kernel}});
  return {biased(c, result, 2)};
}

Values conv_transpose(Conversion& c) {
  if (windows_wait(c) || (c.has_attribute("output_shape") && !c.has_known_shape(0)))
    return c.later(c.rank(0), c.dtype(0));
  const std::vector<int64_t> kernel = spatial_of(c, 1);
  const size_t axes = checked_axes(c, kernel.size());
  const std::string automatic = c.text("auto_pad", "NOTSET");
  const auto each_axis = [&](const char* name, int64_t otherwise) {
    auto values = c.integers_of(name).value_or(std::vector<int64_t>(axes, otherwise));
    if (values.size() != axes)
      throw c.error("attribute `" + std::string(name) + "` is not " + std::to_string(axes) + " numbers");
    return values;
  };
  const std::vector<int64_t> strides = each_axis("strides", 1), dilations = each_axis("dilations", 1);
  std::vector<int64_t> more = each_axis("output_padding", 0);
  std::vector<int64_t> before(axes), after(axes);
  if (const auto pads = c.integers_of("pads"); pads && (automatic == "NOTSET" || automatic.empty())) {
    if (pads->size() != 2 * axes)
      throw c.error("attribute `pads` is not " + std::to_string(2 * axes) + " numbers");
    std::copy_n(pads->begin(), axes, before.begin());
    std::copy_n(pads->begin() + static_cast<std::ptrdiff_t>(axes), axes, after.begin());
  }
  const bool same = automatic.starts_with("SAME");
  std::optional<std::vector<int64_t>> wanted = c.integers_of("output_shape");
  if (wanted && wanted->size() > axes)
    wanted->erase(wanted->begin(), wanted->end() - static_cast<std::ptrdiff_t>(axes));
  for (size_t i = 0; (wanted || same) && i < axes; ++i) {
    const Dim extent = c.type(0).shape().at(i + 2);
    if (extent.is_any()) throw c.not_supported("padding by the result's shape where the data's is not known");
    const int64_t full =
        strides.at(i) * (extent.value() - 1) + more[i] + (kernel.at(i) - 1) * dilations[i] + 1;
    const int64_t both = full - (wanted ? (*wanted)[i] : extent.value() * strides.at(i));
    // A larger result than all products reach is padded behind.
    if (both < 0) {
      more[i] -= both;
      continue;
    }
    (automatic == "SAME_UPPER" ? before : after)[i] = both / 2;
    (automatic == "SAME_UPPER" ? after : before)[i] = both - both / 2;
  }
  std::vector<int64_t> padding = before;
  padding.insert(padding.end(), after.begin(), after.end());
  const int64_t groups = c.integer("group", 1);
  const Expr result = summed(c, by_axes("nn.conv", axes, "_transpose"), {c[0], c[1]},
                             {{"strides", strides},
                              {"padding", padding},
                              {"dilation", dilations},
                              {"output_padding", more},
                              {"groups", groups},
                              {"channels", c.type(1).shape().at(1).value() * groups},
                              {"kernel_size", kernel},
                              // With 1 and 3 axes the weight that is called OI is taken as IO.
                              {"kernel_layout", layout_of(axes == 2 ? "IO" : "OI", axes)}});
  return {biased(c, result, 2)};
}

// ---- Products of matrices.

Values gemm(Conversion& c) {
  const double alpha = c.number("alpha", 1), beta = c.number("beta", 1);
  const bool trans_a = c.integer("transA", 0) != 0, trans_b = c.integer("transB", 0) != 0;
  if (c.rank(0) != 2 || c.rank(1) != 2) throw c.error("its operands are no matrices");
  const Expr a = trans_a ? c.transpose(c[0], {1, 0}) : c[0], b = trans_b ? c[1] : c.transpose(c[1], {1, 0});
  const Dim units = tensor_type(b).shape().at(0);
  Expr result = summed(c, op_names::kDense, {a, b},
                       {{"units", units.is_any() ? AttrValue() : AttrValue(units.value())}});
  if (alpha != 1) result = c.call("multiply", {result, c.scalar(alpha, c.dtype(0))});
  if (!c.has(2) || beta == 0) return {result};
  const Expr added = beta == 1 ? c[2] : c.call("multiply", {c[2], c.scalar(beta, c.dtype(2))});
  return {c.call("add", {result, added})};
}

/// Over one axis of batches, whatever they broadcast to.
Expr batches(Conversion& c, const Expr& a, const Expr& b) {
  const std::vector<Dim>&shape_a = tensor_type(a).shape(), &shape_b = tensor_type(b).shape();
  const size_t outer = shape_a.size() - 2;
  if (outer == 1)
    return summed(c, op_names::kBatchMatmul, {a, b}, {{"transpose_a", false}, {"transpose_b", false}});
  if (has_symbolic_batches(a, b))
    return over_symbolic_batches(c, a, b, [&](const Expr& one, const Expr& other) {
      return summed(c, op_names::kBatchMatmul, {one, other},
                    {{"transpose_a", false}, {"transpose_b", false}});
    });
  std::vector<int64_t> common;
  for (size_t i = 0; i < outer; ++i) {
    if (shape_a[i] != shape_b[i] && shape_a[i] != Dim(1) && shape_b[i] != Dim(1))
      throw c.error("its batches do not broadcast");
    common.push_back(shape_a[i] == Dim(1) ? shape_b[i].value() : shape_a[i].value());
  }
  const auto flat = [&](const Expr& operand) {
    const std::vector<Dim>& shape = tensor_type(operand).shape();
    std::vector<int64_t> full = common;
    bool one = true, all = true;
    for (size_t i = 0; i < outer; ++i) one &= shape.at(i) == Dim(1), all &= shape.at(i) == Dim(common[i]);
    for (size_t i = outer; i < outer + 2; ++i) full.push_back(shape.at(i).value());
    const Expr wide =
        one || all ? operand : c.call("broadcast_to", {operand}, {{"shape", full}, {"dtype", ""}});
    return c.reshape(
        wide,
        {one && !all ? 1 : std::accumulate(common.begin(), common.end(), int64_t{1}, std::multiplies<>()),
         full[outer], full[outer + 1]});
  };
  const Expr result =
      summed(c, op_names::kBatchMatmul, {flat(a), flat(b)}, {{"transpose_a", false}, {"transpose_b", false}});
  common.push_back(shape_a[outer].value()), common.push_back(shape_b[outer + 1].value());
  return c.reshape(result, common);
}

/// As numpy: vectors are rows or columns, batches broadcast.
Expr product(Conversion& c, Expr a, Expr b) {
  const int rank_a = tensor_type(a).rank(), rank_b = tensor_type(b).rank();
  if (rank_a == 0 || rank_b == 0) throw c.error("an operand is a scalar");
  if (rank_a == 1) a = c.call("expand_dims", {a}, {{"axis", 0}});
  if (rank_b == 1) b = c.call("expand_dims", {b}, {{"axis", 1}});
  const int rank = std::max(tensor_type(a).rank(), tensor_type(b).rank());
  Expr result;
  if (tensor_type(b).rank() == 2 && tensor_type(b).shape().at(0).is_any() == false && rank_b <= 2) {
    // One matrix for all rows: a dense layer over the last axis.
    const Expr weight = c.transpose(b, {1, 0});
    const Dim units = tensor_type(weight).shape().at(0);
    result = summed(c, op_names::kDense, {a, weight},
                    {{"units", units.is_any() ? AttrValue() : AttrValue(units.value())}});
  } else {
    result = batches(c, c.at_rank(a, std::max(rank, 3)), c.at_rank(b, std::max(rank, 3)));
    if (rank == 2) result = c.call("squeeze", {result}, {{"axis", std::vector<int64_t>{0}}});
  }
  const int out = tensor_type(result).rank();
  std::vector<int64_t> units;
  if (rank_a == 1) units.push_back(out - 2);
  if (rank_b == 1) units.push_back(out - 1);
  return units.empty() ? result : c.call("squeeze", {result}, {{"axis", units}});
}

Values matmul(Conversion& c) { return {product(c, c[0], c[1])}; }

// ---- Normalizations by length.

Values lp_normalization(Conversion& c) {
  const int axis = c.axis(c.integer("axis", -1), c.rank(0));
  const NamedAttrs over{{"axis", std::vector<int64_t>{axis}}, {"keepdims", true}};
  const int64_t p = c.integer("p", 2);
  if (p != 1 && p != 2) throw c.error("`p` is " + std::to_string(p) + ", and should be 1 or 2");
  const Expr norm = p == 1 ? c.call("sum", {c.call("abs", {c[0]})}, over)
                           : c.call("sqrt", {c.call("sum", {c.call("multiply", {c[0], c[0]})}, over)});
  // Zeros stay zeros.
  const Expr zero = c.scalar(0, c.dtype(0));
  return {c.call("where", {c.call("equal", {norm, zero}), zero, c.call("divide", {c[0], norm})})};
}

// ---- Softmax: until version 13 over all axes from `axis` on, as one.

/// `along` of the data and an axis; all axes from there on are one where they count as one.
Values over_rest(Conversion& c, const std::function<Expr(const Expr& data, int axis)>& along) {
  const int rank = c.rank(0);
  const int axis = c.axis(c.integer("axis", c.version < 13 ? 1 : -1), rank);
  if (c.version >= 13 || axis == rank - 1) return {along(c[0], axis)};
  std::vector<int64_t> shape(static_cast<size_t>(axis), 0);
  shape.push_back(-1);
  return {c.call("reshape_like", {along(c.reshape(c[0], shape), axis), c[0]})};
}

Values softmax_by(Conversion& c, const char* op) {
  return over_rest(c, [&](const Expr& data, int axis) { return c.call(op, {data}, {{"axis", axis}}); });
}
Values softmax(Conversion& c) { return softmax_by(c, "nn.softmax"); }
Values log_softmax(Conversion& c) { return softmax_by(c, "nn.log_softmax"); }
/// 1 at the first of the largest.
Values hardmax(Conversion& c) {
  const Formulas f(c);
  return over_rest(c, [&](const Expr& data, int axis) {
    const NamedAttrs over{{"axis", std::vector<int64_t>{axis}}, {"keepdims", true}};
    const Expr first = f.cast(c.call("argmax", {data}, over), kInt64);
    const Expr places = f.expanded(f.positions(data, axis), 1, tensor_type(data).rank() - 1 - axis);
    return f.cast(f.of("equal", places, first), f.dtype_of(data));
  });
}

}  // namespace

Expr summed(const Conversion& c, std::string_view op, std::vector<Expr> args, NamedAttrs attrs) {
  const DType type = tensor_type(args.front()).dtype();
  if (type.bits != 16 || !(type.is_float() || type.is_bfloat())) return c.call(op, std::move(args), attrs);
  attrs.emplace_back("out_dtype", kFloat32);
  return c.cast(c.call(op, std::move(args), attrs), type);
}

Expr matrix_product(Conversion& c, const Expr& a, const Expr& b) { return product(c, a, b); }

const std::vector<Operator>& layer_operators() {
  static const std::vector<Operator> all = {
      {"", "Conv", {1, 11, 22}, &conv},
      {"", "ConvTranspose", {1, 11, 22}, &conv_transpose},
      {"", "Gemm", {1, 6, 7, 9, 11, 13}, &gemm},
      {"", "Hardmax", {1, 11, 13}, &hardmax},
      {"", "LogSoftmax", {1, 11, 13}, &log_softmax},
      {"", "LpNormalization", {1, 22}, &lp_normalization},
      {"", "MatMul", {1, 9, 13}, &matmul},
      {"", "Softmax", {1, 11, 13}, &softmax},
  };
  return all;
}

}  // namespace baton::onnx
