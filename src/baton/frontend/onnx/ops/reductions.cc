// Reductions over axes: an attribute, an input from version 18 on (ReduceSum: 13).
#include <algorithm>
#include <numeric>

#include "baton/frontend/onnx/operators.h"

namespace baton::onnx {

namespace {

constexpr int64_t kAxesAsInput = 18;

struct Axes {
  std::vector<int64_t> axes;
  bool keeps, is_identity;
  NamedAttrs attrs(bool keepdims) const { return {{"axis", axes}, {"keepdims", keepdims}}; }
};

/// nullopt: they are computed at run time.
std::optional<Axes> reduced_axes(const Conversion& c, int64_t since) {
  const bool keeps = c.integer("keepdims", 1) != 0, is_input = c.version >= since && c.has(1);
  std::optional<std::vector<int64_t>> given = c.version < since ? c.integers_of("axes") : std::nullopt;
  if (is_input && c.type(1).shape() != std::vector<Dim>{0}) {
    given = c.numbers(1);
    if (!given) return std::nullopt;
  }
  if (given && !given->empty()) return Axes{c.axes(*given, c.rank(0)), keeps, false};
  if (c.integer("noop_with_empty_axes", 0) != 0) return Axes{{}, keeps, true};
  std::vector<int64_t> all(static_cast<size_t>(c.rank(0)));
  std::iota(all.begin(), all.end(), int64_t{0});
  return Axes{all, keeps, false};
}

/// The rank is known where the number of axes is.
Values reduced_later(const Conversion& c) {
  if (c.integer("keepdims", 1) != 0) return c.later(c.rank(0), c.dtype(0));
  const std::vector<Dim>& axes = c.type(1).shape();
  if (axes.size() != 1 || axes.at(0).is_any())
    throw c.not_supported("reductions over a number of axes that is only known at run time (`keepdims` 0)");
  return c.later(c.rank(0) - static_cast<int>(axes.at(0).value()), c.dtype(0));
}

Expr reduced(const Conversion& c, const char* op, const Expr& data, const Axes& axes) {
  if (axes.is_identity || axes.axes.empty()) return data;
  return c.call(op, {data}, axes.attrs(axes.keeps));
}

Expr absolute(const Conversion& c, const Expr& x) { return c.call("abs", {x}); }
Expr square(const Conversion& c, const Expr& x) { return c.call("multiply", {x, x}); }
Expr root(const Conversion& c, const Expr& x) { return c.call("sqrt", {x}); }
Expr logarithm(const Conversion& c, const Expr& x) { return c.call("log", {x}); }

using Step = Expr (*)(const Conversion& c, const Expr& x);

/// after(op(before(x))). A function `after` the sum is one of reals, also of integers.
Values reduce_by(const Conversion& c, const char* op, int64_t since, Step before = nullptr,
                 Step after = nullptr) {
  const std::optional<Axes> axes = reduced_axes(c, since);
  if (!axes) return reduced_later(c);
  const DType own = c.dtype(0);
  const bool is_real = own.is_float() || own.is_bfloat();
  const Expr x = after && !is_real ? c.cast(c[0], DType::float_(64)) : c[0];
  const Expr result = reduced(c, op, before ? before(c, x) : x, *axes);
  return {c.cast(after ? after(c, result) : result, own)};
}

template <const char* kOp>
Values reduce(Conversion& c) {
  return reduce_by(c, kOp, kAxesAsInput);
}
Values reduce_sum(Conversion& c) { return reduce_by(c, "sum", 13); }
Values reduce_l1(Conversion& c) { return reduce_by(c, "sum", kAxesAsInput, absolute); }
Values reduce_sum_square(Conversion& c) { return reduce_by(c, "sum", kAxesAsInput, square); }
Values reduce_l2(Conversion& c) { return reduce_by(c, "sum", kAxesAsInput, square, root); }
Values reduce_log_sum(Conversion& c) { return reduce_by(c, "sum", kAxesAsInput, nullptr, logarithm); }

/// Less the largest, so that exp does not overflow.
Values reduce_log_sum_exp(Conversion& c) {
  const std::optional<Axes> axes = reduced_axes(c, kAxesAsInput);
  if (!axes) return reduced_later(c);
  const DType own = c.dtype(0);
  const bool is_real = own.is_float() || own.is_bfloat();
  const DType type = is_real ? own : DType::float_(64);
  const Expr x = c.cast(c[0], type);
  if (axes->is_identity || axes->axes.empty()) return {c[0]};
  const NamedAttrs kept = axes->attrs(true);
  const Expr most = c.call("max", {x}, kept), zero = c.scalar(0, type);
  const Expr finite = c.call("where", {c.call("isfinite", {most}), most, zero});
  const Expr sum = c.call("sum", {c.call("exp", {c.call("subtract", {x, finite})})}, kept);
  const Expr result = c.cast(c.call("add", {c.call("log", {sum}), finite}), own);
  return {axes->keeps ? result : c.call("squeeze", {result}, {{"axis", axes->axes}})};
}

/// (x - mean) / (deviation + 1e-9)
Values mean_variance_normalization(Conversion& c) {
  const DType type = c.dtype(0);
  const std::vector<int64_t> axes =
      c.axes(c.integers_of("axes").value_or(std::vector<int64_t>{0, 2, 3}), c.rank(0));
  const NamedAttrs over{{"axis", axes}, {"keepdims", true}};
  const Expr centred = c.call("subtract", {c[0], c.call("mean", {c[0]}, over)});
  const Expr deviation = root(c, c.call("mean", {square(c, centred)}, over));
  return {c.call("divide", {centred, c.call("add", {deviation, c.scalar(1e-9, type)})})};
}

template <const char* kOp>
Values arg(Conversion& c) {
  const int axis = c.axis(c.integer("axis", 0), c.rank(0));
  const Expr found = c.call(kOp, {c[0]},
                            {{"axis", std::vector<int64_t>{axis}},
                             {"keepdims", c.integer("keepdims", 1) != 0},
                             {"select_last_index", c.integer("select_last_index", 0) != 0}});
  return {c.cast(found, DType::int_(64))};
}

constexpr char kMax[] = "max", kMin[] = "min", kMean[] = "mean", kProd[] = "prod", kArgMax[] = "argmax",
               kArgMin[] = "argmin";

}  // namespace

const std::vector<Operator>& reducing_operators() {
  static const std::vector<Operator> all = {
      {"", "ArgMax", {1, 11, 12, 13}, &arg<kArgMax>},
      {"", "ArgMin", {1, 11, 12, 13}, &arg<kArgMin>},
      {"", "MeanVarianceNormalization", {9, 13}, &mean_variance_normalization},
      {"", "ReduceL1", {1, 11, 13, 18}, &reduce_l1},
      {"", "ReduceL2", {1, 11, 13, 18}, &reduce_l2},
      {"", "ReduceLogSum", {1, 11, 13, 18, 28}, &reduce_log_sum},
      {"", "ReduceLogSumExp", {1, 11, 13, 18, 28}, &reduce_log_sum_exp},
      {"", "ReduceMax", {1, 11, 12, 13, 18, 20}, &reduce<kMax>},
      {"", "ReduceMean", {1, 11, 13, 18}, &reduce<kMean>},
      {"", "ReduceMin", {1, 11, 12, 13, 18, 20}, &reduce<kMin>},
      {"", "ReduceProd", {1, 11, 13, 18}, &reduce<kProd>},
      {"", "ReduceSum", {1, 11, 13}, &reduce_sum},
      {"", "ReduceSumSquare", {1, 11, 13, 18}, &reduce_sum_square},
  };
  return all;
}

}  // namespace baton::onnx
