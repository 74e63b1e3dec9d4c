#pragma once
// Kernels around one layer, for tests of templates.
#include "baton/ops/shared/conv_attrs.h"

#include "schedule/template_checks.h"

namespace baton::test {

struct ConvCase {
  int64_t n, c, h, w, o, kernel, stride;
  std::vector<int64_t> pad;
  int64_t in_block, out_block;
  std::string ops;  ///< of the epilogue
  int64_t dilation = 1;
  bool relu_before = false;
};

inline std::string block(const char* layout, int64_t in, int64_t out) {
  std::string text = layout;
  for (const auto& [mark, value] : {std::pair{"#", in}, {"@", out}})
    if (const size_t at = text.find(mark); at != std::string::npos)
      text.replace(at, 1, std::to_string(value));
  return text;
}

inline int64_t out_extent(int64_t in, int64_t pads, int64_t kernel, int64_t dilation, int64_t stride) {
  return (in + pads - ((kernel - 1) * dilation + 1)) / stride + 1;
}

inline Conv2DAttrs attrs_of(const ConvCase& t) {
  Conv2DAttrs a;
  a.strides = {t.stride, t.stride}, a.dilation = {t.dilation, t.dilation};
  a.padding = t.pad, a.channels = t.o, a.kernel_size = std::vector<int64_t>{t.kernel, t.kernel};
  a.data_layout = block("NCHW#c", t.in_block, 0), a.out_layout = block("NCHW#c", t.out_block, 0);
  a.kernel_layout = block("OIHW#i@o", t.in_block, t.out_block);
  return a;
}

inline Shape out_shape(const ConvCase& t) {
  const Padding2D p = *padding_2d(t.pad);
  return {t.n, t.o / t.out_block, out_extent(t.h, p.height(), t.kernel, t.dilation, t.stride),
          out_extent(t.w, p.width(), t.kernel, t.dilation, t.stride), t.out_block};
}

inline LoweredKernel conv(const ConvCase& t) {
  KernelBuilder b("conv");
  Value x = b.input({t.n, t.c / t.in_block, t.h, t.w, t.in_block});
  const Value weight =
      b.input({t.o / t.out_block, t.c / t.in_block, t.kernel, t.kernel, t.in_block, t.out_block});
  if (t.relu_before) x = b.call("nn.relu", {x}, {}, x.tensor.shape());
  return b.finish(epilogue(
      b, b.call("nn.contrib_conv2d_NCHWc", {x, weight}, make_attrs(attrs_of(t)), out_shape(t)), t.ops));
}

inline LoweredKernel depthwise(const ConvCase& t) {
  KernelBuilder b("dwconv");
  Value x = b.input({t.n, t.c / t.in_block, t.h, t.w, t.in_block});
  const Value weight = b.input({t.c / t.in_block, 1, t.kernel, t.kernel, 1, t.in_block});
  if (t.relu_before) x = b.call("nn.relu", {x}, {}, x.tensor.shape());
  Conv2DAttrs a = attrs_of(t);
  a.groups = t.c;
  a.kernel_layout = block("OIHW1i@o", 0, t.in_block);
  return b.finish(epilogue(
      b, b.call("nn.contrib_depthwise_conv2d_NCHWc", {x, weight}, make_attrs(a), out_shape(t)), t.ops));
}

/// Winograd with weights that are transformed in the test, and the direct convolution with the same ones.
/// `direct` makes the reference from the same inputs: data, the plain weight OIHW, then those of the
/// epilogue.
inline LoweredKernel winograd(const ConvCase& t, int tile) {
  KernelBuilder b("wino");
  const int64_t a = tile + 2;
  Value x = b.input({t.n, t.c / t.in_block, t.h, t.w, t.in_block});
  const Value weight = b.input({a, a, t.o / t.out_block, t.c / t.in_block, t.in_block, t.out_block});
  if (t.relu_before) x = b.call("nn.relu", {x}, {}, x.tensor.shape());
  const std::string op = "nn.contrib_conv2d_winograd_without_weight_transform";
  const Attrs attrs = op_attrs(op, {{"tile_size", tile},
                                    {"padding", t.pad},
                                    {"channels", t.o},
                                    {"kernel_size", std::vector<int64_t>{3, 3}},
                                    {"data_layout", block("NCHW#c", t.in_block, 0)},
                                    {"kernel_layout", block("HWOI#i@o", t.in_block, t.out_block)},
                                    {"out_layout", block("NCHW#c", t.out_block, 0)}});
  const Value y = b.call(op, {x, weight}, attrs, out_shape(t));
  return b.finish(epilogue(b, y, t.ops));
}

struct DenseCase {
  int64_t m, k, n, block;
  bool epilogue;
};

inline LoweredKernel dense(const DenseCase& t, bool packed) {
  KernelBuilder b("dense");
  const Value x = b.input({t.m, t.k});
  const Value weight = packed ? b.input({(t.n + t.block - 1) / t.block, t.k, t.block}) : b.input({t.n, t.k});
  const std::string op = packed ? "nn.contrib_dense_pack" : "nn.dense";
  Value y = b.call(op, {x, weight}, op_attrs(op, {{"units", t.n}}), {t.m, t.n});
  if (t.epilogue) {
    y = b.call("add", {y, b.input({1, t.n})}, {}, {t.m, t.n});
    y = b.call("nn.relu", {y}, {}, {t.m, t.n});
  }
  return b.finish(y);
}

struct TransposeCase {
  int64_t n, c, o;
  Shape in, kernel, stride, pad;        ///< of the spatial axes
  int64_t in_block = 0, out_block = 0;  ///< 0: plain layouts
  std::string ops = {};                 ///< of the epilogue, only in blocks
  int64_t groups = 1, dilation = 1;
  Shape more = {};  ///< output_padding
  bool relu_before = false;
};

/// By phases, or as the definition says (for which the weight is written in another, equal layout).
inline LoweredKernel transposed(const TransposeCase& t, bool by_phases) {
  KernelBuilder b("transposed");
  const size_t count = t.in.size();
  const bool packed = t.out_block > 0, depthwise = t.groups > 1 && t.groups == t.c && t.groups == t.o;
  const std::string spatial = count == 1   ? "W"
                              : count == 2 ? "HW"
                                           : "DHW",
                    data = "NC" + spatial, in = count == 2 ? "I" : "O", out = count == 2 ? "O" : "I";
  const std::string in_lanes = count == 2 ? "i" : "o", out_lanes = count == 2 ? "o" : "i";
  std::string op = "nn.conv" + std::to_string(count) + "d_transpose", layout = data, out_layout = data,
              kernel = in + out + spatial;
  Shape x{t.n, t.c}, weight{t.c, t.o / t.groups}, y{t.n, t.o};
  if (packed) {
    layout += std::to_string(t.in_block) + "c", out_layout += std::to_string(t.out_block) + "c";
    x[1] /= t.in_block, y[1] /= t.out_block;
    kernel = out + spatial + in + std::to_string(t.out_block) + (depthwise ? in_lanes : out_lanes);
    weight = {depthwise ? 1 : t.o / t.groups / t.out_block};
  }
  weight.insert(weight.end(), t.kernel.begin(), t.kernel.end());
  if (packed) weight.insert(weight.end(), {depthwise ? t.c / t.out_block : t.c, t.out_block});
  if (!by_phases) {
    kernel.insert(packed ? kernel.find_first_of("123456789") : kernel.size(), "1" + in_lanes);
    weight.insert(packed ? weight.end() - 1 : weight.end(), 1);
  }
  for (size_t k = 0; k < count; ++k) {
    const int64_t more = t.more.empty() ? 0 : t.more[k];
    x.push_back(t.in[k]);
    y.push_back((t.in[k] - 1) * t.stride[k] + (t.kernel[k] - 1) * t.dilation + 1 - t.pad[k] -
                t.pad[count + k] + more);
  }
  if (packed) x.push_back(t.in_block), y.push_back(t.out_block);
  Value value = b.input(x);
  const Value weights = b.input(weight);
  if (t.relu_before) value = b.call("nn.relu", {value}, {}, x);
  value = b.call(op, {value, weights},
                 op_attrs(op, {{"strides", t.stride},
                               {"padding", t.pad},
                               {"output_padding", t.more.empty() ? Shape(count, 0) : t.more},
                               {"dilation", Shape(count, t.dilation)},
                               {"groups", t.groups},
                               {"channels", t.o},
                               {"kernel_size", t.kernel},
                               {"data_layout", layout},
                               {"kernel_layout", kernel},
                               {"out_layout", out_layout}}),
                 y);
  if (!packed && !t.ops.empty()) value = b.call("tanh", {value}, {}, y);
  return b.finish(packed && count == 2 ? epilogue(b, value, t.ops) : value);
}

struct MatmulCase {
  int64_t left, right, m, k, n;  ///< the batches of both, then the extents
  std::string ops;
};

inline LoweredKernel batch_matmul(const MatmulCase& t, bool transpose_a, bool transpose_b) {
  KernelBuilder b("matmul");
  const Shape shape{std::max(t.left, t.right), t.m, t.n};
  const Value x = b.input(transpose_a ? Shape{t.left, t.k, t.m} : Shape{t.left, t.m, t.k});
  const Value w = b.input(transpose_b ? Shape{t.right, t.n, t.k} : Shape{t.right, t.k, t.n});
  Value y = b.call("nn.batch_matmul", {x, w},
                   op_attrs("nn.batch_matmul", {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}}),
                   shape);
  if (t.ops == "epilogue") {
    y = b.call("add", {y, b.input({t.n})}, {}, shape);
    y = b.call("nn.relu", {b.call("multiply", {y, b.input({})}, {}, shape)}, {}, shape);
  }
  return b.finish(y);
}

}  // namespace baton::test
