#include "baton/transform/layout/transposed_phases.h"

#include <algorithm>

#include "baton/ir/build.h"
#include "baton/ir/extent.h"
#include "baton/ir/inspect.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/layer_kind.h"
#include "baton/pass/rewriter.h"
#include "baton/types/infer_type.h"

namespace baton {
namespace {

/// Along one axis: the results at a distance of the stride, from `residue` on, are a convolution with every
/// stride-th tap. Result y = stride * u + residue sums x[q - j] * w[tap + stride * j] over j, where q = u +
/// first.
struct Phase {
  int64_t first_tap, taps, first;
  int64_t before, after;  ///< padding; less than 0: such a convolution would leave out data
};

Phase phase_of(int64_t residue, int64_t stride, int64_t kernel, int64_t padding, int64_t in, int64_t out) {
  Phase p{};
  p.first_tap = (residue + padding) % stride;
  p.taps = p.first_tap < kernel ? (kernel - p.first_tap + stride - 1) / stride : 0;
  p.first = (residue + padding) / stride;
  p.before = p.taps - 1 - p.first;
  p.after = p.first + out / stride - in;
  return p;
}

struct Transposed {
  int64_t batch, in_channels, out_channels, stride;
  std::vector<Phase> rows, columns;  ///< by residue
  int64_t height, width;             ///< of the results of a phase
};

/// Null when it is not one that phases are made of: with other layouts, groups, strides that differ, results
/// that are not whole squares, or a weight that is not constant.
std::optional<Transposed> transposed_of(const CallNode& call) {
  const auto* kind = call.op() ? call.op()->rules.get<LayerKind>() : nullptr;
  if (!kind || *kind != LayerKind::kConvolutionTransposed) return std::nullopt;
  const TensorTypeNode *data = tensor_type_of(call.args()[0]), *weight = static_type_of(call.args()[1]);
  const auto* result = as_type<TensorTypeNode>(call.checked_type());
  const DType f32 = DType::float_(32);
  if (!data || !weight || !result || data->rank() != 4 || data->dtype() != f32 || weight->dtype() != f32 ||
      result->dtype() != f32 || !as<ConstantNode>(call.args()[1]))
    return std::nullopt;
  const auto given = extents_but_batch(data->shape()), made = extents_but_batch(result->shape());
  if (!given || !made) return std::nullopt;
  const std::vector<int64_t> strides = ints_attr(call, "strides"), dilation = ints_attr(call, "dilation"),
                             padding = ints_attr(call, "padding");
  const std::string out_layout = text_attr(call, "out_layout");
  const auto same = [](const std::vector<int64_t>& values, int64_t value) {
    return std::ranges::all_of(values, [=](int64_t each) { return each == value; });
  };
  if (text_attr(call, "data_layout") != "NCHW" || text_attr(call, "kernel_layout") != "IOHW" ||
      !(out_layout.empty() || out_layout == "NCHW") || int_attr(call, "groups") != 1 || strides.empty() ||
      strides[0] < 2 || !same(strides, strides[0]) || !same(dilation, 1) || padding.empty())
    return std::nullopt;
  const auto &in = *given, &out = *made;
  const auto taps = weight->extents();
  const int64_t stride = strides[0];
  if (in[0] == 0 || in[1] == 0 || out[1] == 0 || out[2] == 0 || out[3] == 0 || out[2] % stride != 0 ||
      out[3] % stride != 0)
    return std::nullopt;
  Transposed found{in[0], in[1], out[1], stride, {}, {}, out[2] / stride, out[3] / stride};
  const int64_t top = padding[0], left = padding.size() > 1 ? padding[1] : padding[0];
  for (int64_t residue = 0; residue < stride; ++residue) {
    found.rows.push_back(phase_of(residue, stride, taps[2], top, in[2], out[2]));
    found.columns.push_back(phase_of(residue, stride, taps[3], left, in[3], out[3]));
  }
  for (const auto* phases : {&found.rows, &found.columns})
    for (const Phase& p : *phases)
      if (p.taps == 0 || p.before < 0 || p.after < 0) return std::nullopt;
  return found;
}

/// Whether the phases are expected to take less time, the copy of their results into place included.
bool is_faster(const Transposed& t, const KernelChoice& choice, const DeviceSheet& sheet) {
  // A vector of results is stored, loaded and stored again: as long as that many multiply-adds of values in
  // the first-level cache.
  constexpr double kCopied = 8;
  double phases = 0, sum = 0;
  for (const Phase& row : t.rows)
    for (const Phase& column : t.columns) {
      const ConvChoice chosen = choice.conv2d({.batch = t.batch,
                                               .in_channels = t.in_channels,
                                               .out_channels = t.out_channels,
                                               .out_height = t.height,
                                               .out_width = t.width,
                                               .kernel_height = row.taps,
                                               .kernel_width = column.taps},
                                              sheet);
      if (chosen.out_block == 1) return false;  // stays in plain layouts, and a sum
      phases += chosen.algorithm.cost, sum += chosen.algorithm.direct_cost;
    }
  const double results =
      static_cast<double>(t.batch * t.out_channels * t.height * t.width * t.stride * t.stride);
  return phases + kCopied * results / sheet.float_lanes < sum;
}

Expr convolution(const Transposed& t, const Expr& data, const Expr& weight, const Phase& row,
                 const Phase& column) {
  // Every stride-th tap of (I, O, height, width), from the last one on, as the weight of a convolution.
  const auto last = [&](const Phase& p) { return p.first_tap + t.stride * (p.taps - 1); };
  Expr taps = call_op("strided_slice", {weight},
                      {{"begin", std::vector<int64_t>{row.first_tap, column.first_tap}},
                       {"end", std::vector<int64_t>{last(row) + 1, last(column) + 1}},
                       {"strides", std::vector<int64_t>{t.stride, t.stride}},
                       {"axes", std::vector<int64_t>{2, 3}}});
  for (const int64_t axis : {2, 3}) taps = call_op("reverse", {taps}, {{"axis", axis}});
  taps = call_op("transpose", {taps}, {{"axes", std::vector<int64_t>{1, 0, 2, 3}}});
  return call_op("nn.conv2d", {data, taps},
                 {{"padding", std::vector<int64_t>{row.before, column.before, row.after, column.after}},
                  {"channels", t.out_channels},
                  {"kernel_size", std::vector<int64_t>{row.taps, column.taps}}});
}

class PhaseMaker final : public Rewriter {
 public:
  PhaseMaker(const KernelChoice& choice, const DeviceSheet& sheet) : choice_(choice), sheet_(sheet) {}

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const auto *typed = as<CallNode>(original), *call = as<CallNode>(rebuilt);
    if (!typed || !call) return rebuilt;
    const std::optional<Transposed> found = transposed_of(*typed);
    if (!found || !is_faster(*found, choice_, sheet_)) return rebuilt;
    std::vector<Expr> results;
    for (const Phase& row : found->rows)
      for (const Phase& column : found->columns)
        results.push_back(convolution(*found, call->args()[0], call->args()[1], row, column));
    const Expr joined = call_op("concatenate", {tuple(std::move(results))}, {{"axis", 1}});
    return call_op("nn.depth_to_space", {joined}, {{"block_size", found->stride}});
  }

  const KernelChoice& choice_;
  const DeviceSheet& sheet_;
};

}  // namespace

Function with_transposed_phases(const Function& function, const IRModuleNode& module,
                                const KernelChoice& choice, const DeviceSheet& sheet) {
  const Function made = as_ref<FunctionNode>(PhaseMaker(choice, sheet).run(Expr(function)));
  return made == function ? function : as_ref<FunctionNode>(infer_type(Expr(made), &module));
}

}  // namespace baton
