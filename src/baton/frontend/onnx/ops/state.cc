// Operators of linear attention: recurrences over a matrix of state, and convolutions that look back.
#include <cmath>

#include "baton/frontend/onnx/operators.h"
#include "baton/frontend/onnx/ops/attention.h"
#include "baton/frontend/onnx/ops/formulas.h"
#include "baton/frontend/onnx/ops/normalization.h"
#include "baton/frontend/onnx/ops/time_loop.h"

namespace baton::onnx {

namespace {

// ---- LinearAttention: state = exp(decay) * state + key (x) value, read by the query.

struct UpdateRule {
  bool gated, corrected;
};

UpdateRule rule_of(const Conversion& c) {
  const std::string name = c.text("update_rule", "gated_delta");
  if (name != "linear" && name != "gated" && name != "delta" && name != "gated_delta")
    throw c.error("`update_rule` is \"" + name + "\", and should be linear, gated, delta or gated_delta");
  const UpdateRule rule{name.starts_with("gated"), name.ends_with("delta")};
  if (rule.gated != c.has(4))
    throw c.error("`update_rule` " + name + (rule.gated ? " needs" : " has no") + " decay");
  if (rule.corrected != c.has(5))
    throw c.error("`update_rule` " + name + (rule.corrected ? " needs" : " has no") + " beta");
  return rule;
}

/// (batch, length, heads * size) -> (length, batch, heads, size), in float32
Expr by_time(const Conversion& c, const Expr& data, int64_t heads) {
  const int64_t hidden = known(c, tensor_type(data).shape().at(2), "heads of data");
  if (heads < 1 || hidden % heads != 0)
    throw c.error(std::to_string(hidden) + " elements do not divide into " + std::to_string(heads) +
                  " heads");
  return c.cast(c.transpose(c.reshape(data, {0, 0, heads, hidden / heads}), {1, 0, 2, 3}), kFloat32);
}

Values linear_attention(Conversion& c) {
  const Formulas f(c);
  const UpdateRule rule = rule_of(c);
  const int64_t heads = heads_of(c, "q_num_heads"), shared = heads_of(c, "kv_num_heads");
  if (heads % shared != 0) throw c.error("`q_num_heads` is no multiple of `kv_num_heads`");
  for (const size_t input : {0, 1, 2})
    if (c.rank(input) != 3) throw c.error("input " + std::to_string(input) + " is not of rank 3");
  const Expr query = by_time(c, c[0], heads), key = by_time(c, c[1], shared),
             value = by_time(c, c[2], shared);
  const int64_t keys = known(c, tensor_type(key).shape().at(3), "keys");
  const Expr decay = rule.gated ? f.of("exp", by_time(c, c[4], shared)) : Expr();
  const Expr beta =
      rule.corrected ? by_time(c, c[5], c.type(5).shape().at(2) == Dim(1) ? 1 : shared) : Expr();
  const double given = c.number("scale", 0),
               scale = given == 0 ? 1 / std::sqrt(static_cast<double>(keys)) : given;
  Expr state;
  if (c.has(3))
    state = f.cast(c[3], kFloat32);
  else  // (batch, heads, keys, values), by the first products of both
    state = f.of("zeros_like", f.mul(f.expanded(f.taken(key, 0, 0), 3), f.expanded(f.taken(value, 0, 0), 2)));
  const StepRule step = [&](const Expr& time, const std::vector<Expr>& before) {
    const auto now = [&](const Expr& all) { return c.call("take", {all, time}, {{"axis", 0}}); };
    const Expr k = f.expanded(now(key), 3);  // a column
    Expr next = decay ? f.mul(before[0], f.expanded(now(decay), 3)) : before[0];
    Expr v = now(value);
    if (beta) v = f.mul(now(beta), f.sub(v, f.sum(f.mul(next, k), {2}, false)));
    next = f.add(next, f.mul(k, f.expanded(v, 2)));
    const int64_t group = heads / shared;
    const Expr read =
        group == 1 ? next : c.call("repeat", {next}, {{"repeats", group}, {"axis", int64_t{1}}});
    return TimeStep{f.sum(f.mul(read, f.expanded(now(query), 3)), {2}, false), {next}};
  };
  TimeStep all = over_time(c, key, false, {state}, step);
  const int64_t values = known(c, tensor_type(value).shape().at(3), "values");
  Expr output = c.reshape(c.transpose(f.scaled(scale, all.output), {1, 0, 2, 3}), {0, 0, heads * values});
  if (tensor_type(output).shape().at(1).is_any() &&
      heads * values == known(c, c.type(0).shape().at(2), "queries"))
    output = c.call("reshape_like", {output, c[0]});  // a loop does not know how many outputs it has
  return {f.cast(output, c.dtype(0)), f.cast(all.state[0], c.has(3) ? c.dtype(3) : c.dtype(0))};
}

// ---- CausalConvWithState

Values causal_conv(Conversion& c) {
  const Formulas f(c);
  const std::string activation = c.text("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    throw c.error("`activation` is \"" + activation + "\", and should be none, silu or swish");
  if (c.rank(0) != 3 || c.rank(1) != 3) throw c.error("its data or weights are not of rank 3");
  const int64_t channels = known(c, c.type(1).shape().at(0), "channels"),
                kernel = known(c, c.type(1).shape().at(2), "kernels");
  const bool has_state = c.has(3);
  const Expr padded =
      has_state ? f.joined({c[3], c[0]}, 2)
                : c.call("nn.pad", {c[0], c.scalar(0, c.dtype(0))},
                         {{"pad_width", AttrList{AttrList{0, 0}, AttrList{0, 0}, AttrList{kernel - 1, 0}}}});
  // Sums and the activation in float32 at least.
  const DType type = c.dtype(0), wide = stash_for(type);
  Expr result = c.call("nn.conv1d", {f.cast(padded, wide), f.cast(c[1], wide)},
                       {{"strides", std::vector<int64_t>{1}},
                        {"padding", std::vector<int64_t>{0, 0}},
                        {"groups", channels},
                        {"channels", channels},
                        {"kernel_size", std::vector<int64_t>{kernel}}});
  if (c.has(2)) result = c.call("nn.bias_add", {result, f.cast(c[2], wide)}, {{"axis", 1}});
  result = f.cast(result, type);
  if (activation != "none") {
    const Expr x = f.cast(result, wide);
    result = f.cast(f.mul(x, f.of("sigmoid", x)), type);
  }
  const Dim length = tensor_type(padded).shape().at(2);
  Expr state;
  if (kernel == 1)
    state = f.sliced(padded, 2, 0, 0);
  else if (length.is_any())
    state = c.call("strided_slice", {padded},
                   {{"begin", std::vector<int64_t>{1 - kernel}},
                    {"end", std::vector<int64_t>{INT32_MAX}},
                    {"strides", std::vector<int64_t>{1}},
                    {"slice_mode", "end"},
                    {"axes", std::vector<int64_t>{2}}});
  else
    state = f.sliced(padded, 2, length.value() - (kernel - 1), length.value());
  return {result, state};
}

}  // namespace

const std::vector<Operator>& state_operators() {
  static const std::vector<Operator> all = {
      {"", "CausalConvWithState", {27}, &causal_conv},
      {"", "LinearAttention", {27}, &linear_attention},
  };
  return all;
}

}  // namespace baton::onnx
