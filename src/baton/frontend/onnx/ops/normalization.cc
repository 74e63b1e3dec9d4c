// Normalizations by mean and variance: of batches, instances, groups of channels, the last axes; and LRN.
#include "baton/frontend/onnx/ops/normalization.h"

#include <numeric>

#include "baton/frontend/onnx/operators.h"
#include "baton/frontend/onnx/ops/formulas.h"

namespace baton::onnx {

DType stash_for(DType type) { return type == DType::float_(64) ? type : DType::float_(32); }

Normalized normalized(const Conversion& c, const LastAxes& how, DType stash) {
  const Formulas f(c);
  const TensorTypeNode& type = tensor_type(how.data);
  const int axis = c.axis(how.axis, type.rank());
  // One operator, where it means the same.
  if (how.centres && how.shift && !how.wants_statistics && axis == type.rank() - 1 &&
      type.dtype() == DType::float_(32) && stash == type.dtype() && tensor_type(how.scale).rank() == 1 &&
      tensor_type(how.shift).rank() == 1)
    return {
        c.call("nn.layer_norm", {how.data, how.scale, how.shift}, {{"axis", axis}, {"epsilon", how.epsilon}}),
        {},
        {}};
  std::vector<int64_t> axes(static_cast<size_t>(type.rank() - axis));
  std::iota(axes.begin(), axes.end(), int64_t{axis});
  const Expr x = f.cast(how.data, stash);
  Normalized made;
  if (how.centres) made.mean = f.mean(x, axes);
  const Expr centred = how.centres ? f.sub(x, made.mean) : x;
  const Expr spread = f.of("sqrt", f.plus(f.mean(f.mul(centred, centred), axes), how.epsilon));
  made.inverse = f.div(f.number(1, spread), spread);
  made.result = f.cast(f.mul(centred, made.inverse), type.dtype());
  // Scales may be of a wider type than the data, which the result then has.
  const DType out = f.dtype_of(how.scale);
  made.result = f.mul(f.cast(made.result, out), how.scale);
  if (how.shift) made.result = f.add(made.result, how.shift);
  return made;
}

namespace {

DType stash_of(const Conversion& c) { return c.element_type("stash_type", DType::float_(32)); }

Values layer_norm(Conversion& c) {
  const LastAxes how{c[0],
                     c[1],
                     c.has(2) ? c[2] : Expr(),
                     c.axis(c.integer("axis", -1), c.rank(0)),
                     c.number("epsilon", 1e-5),
                     true,
                     c.wants(1) || c.wants(2)};
  const Normalized made = normalized(c, how, stash_of(c));
  return made.mean ? Values{made.result, made.mean, made.inverse} : Values{made.result};
}

/// By the root of the mean square.
Values rms_norm(Conversion& c) {
  const LastAxes how{c[0], c[1], {}, c.axis(c.integer("axis", -1), c.rank(0)), c.number("epsilon", 1e-5),
                     false};
  const Normalized made = normalized(c, how, stash_of(c));
  return {made.result, made.inverse};
}

Values instance_norm(Conversion& c) {
  const double epsilon = c.number("epsilon", 1e-5);
  if (stash_for(c.dtype(0)) == c.dtype(0))
    return {c.call("nn.instance_norm", {c[0], c[1], c[2]}, {{"axis", 1}, {"epsilon", epsilon}})};
  const auto wide = [&](size_t input) { return c.cast(c[input], stash_for(c.dtype(input))); };
  return {c.cast(c.call("nn.instance_norm", {wide(0), wide(1), wide(2)}, {{"axis", 1}, {"epsilon", epsilon}}),
                 c.dtype(0))};
}

/// Until version 21, scale and bias are those of groups, then of channels.
Values group_norm(Conversion& c) {
  const Formulas f(c);
  const DType type = c.dtype(0), stash = c.version < 21 ? stash_for(type) : stash_of(c);
  const int rank = c.rank(0);
  const int64_t groups = c.required_integer("num_groups");
  const Dim channels = rank < 2 ? Dim(0) : c.type(0).shape().at(1);
  if (channels.is_any()) throw c.not_supported("groups of channels whose number is not known");
  if (groups < 1 || rank < 2 || channels.value() % groups != 0)
    throw c.error(std::to_string(channels.value()) + " channels do not divide into " +
                  std::to_string(groups) + " groups");
  const Expr x = f.cast(c.reshape(c[0], {0, -4, groups, channels.value() / groups, -2}), stash);
  std::vector<int64_t> axes(static_cast<size_t>(rank - 1));
  std::iota(axes.begin(), axes.end(), int64_t{2});
  const Expr centred = f.sub(x, f.mean(x, axes));
  const Expr variance = f.mean(f.mul(centred, centred), axes);
  const Expr normal = f.div(centred, f.of("sqrt", f.plus(variance, c.number("epsilon", 1e-5))));
  const auto joined = [&](const Expr& value) { return c.reshape(value, {0, -3, -2}); };
  const auto along = [&](size_t input, int axis, int of) { return f.along(c[input], of, axis); };
  if (c.version < 21 && groups != channels.value() && c.type(1).shape().at(0) == Dim(groups)) {
    const Expr scaled = f.mul(f.cast(normal, type), along(1, 1, rank + 1));
    return {joined(f.add(scaled, along(2, 1, rank + 1)))};
  }
  return {f.add(f.mul(joined(f.cast(normal, type)), along(1, 1, rank)), along(2, 1, rank))};
}

// ---- Batches.

/// By the mean and variance of the batch itself, which also update the running ones.
Values training_batch_norm(Conversion& c) {
  const Formulas f(c);
  const DType type = c.dtype(0), wide = stash_for(type);
  const int rank = c.rank(0);
  std::vector<int64_t> axes;
  for (int i = 0; i < rank; ++i)
    if (i != 1) axes.push_back(i);
  const auto along = [&](const Expr& vector) { return f.along(vector, rank, 1); };
  const Expr x = f.cast(c[0], wide), mean = f.mean(x, axes, false);
  const Expr centred = f.sub(x, along(mean)), variance = f.mean(f.mul(centred, centred), axes, false);
  const Expr spread = f.of("sqrt", f.plus(variance, c.number("epsilon", 1e-5)));
  const Expr normal = f.div(centred, along(spread));
  const double momentum = c.number("momentum", 0.9);
  const auto running = [&](size_t input, const Expr& now) {
    const Expr sum = f.add(f.scaled(momentum, f.cast(c[input], wide)), f.scaled(1 - momentum, now));
    return f.cast(sum, c.dtype(input));
  };
  const Expr result = f.add(f.mul(normal, along(f.cast(c[1], wide))), along(f.cast(c[2], wide)));
  Values results{f.cast(result, type), running(3, mean), running(4, variance)};
  if (c.version >= 14) return results;
  // Then the statistics of the batch were results, too.
  results.emplace_back(f.cast(mean, c.dtype(3)));
  results.emplace_back(f.cast(variance, c.dtype(4)));
  return results;
}

/// Versions 1 and 6 said by `is_test`, those until 14 by the number of outputs, that they train.
bool trains(const Conversion& c) {
  if (c.version >= 14) return c.integer("training_mode", 0) != 0;
  return c.version < 7 ? c.integer("is_test", 0) == 0 && c.wants(1) : c.wants(1);
}

Values batch_norm(Conversion& c) {
  const Formulas f(c);
  const bool single = c.version < 9 && c.integer("spatial", 1) == 0;
  if (trains(c)) {
    if (single) throw c.not_supported("normalizations of single elements (`spatial` 0) in training");
    return training_batch_norm(c);
  }
  const double epsilon = c.number("epsilon", 1e-5);
  const DType type = c.dtype(0), wide = stash_for(type);
  const int rank = c.rank(0);
  bool plain = !single && rank > 1;
  for (size_t i = 0; i < 5; ++i) plain &= c.dtype(i) == DType::float_(32);
  if (plain)
    return {c.item(
        c.call("nn.batch_norm", {c[0], c[1], c[2], c[3], c[4]}, {{"axis", 1}, {"epsilon", epsilon}}), 0)};
  // Statistics of single elements have the shape of the data without batches.
  const auto along = [&](size_t input) {
    const Expr value = f.cast(c[input], wide);
    return single || rank < 2 ? value : f.along(value, rank, 1);
  };
  const Expr spread = f.of("sqrt", f.plus(along(4), epsilon));
  const Expr normal = f.div(f.sub(f.cast(c[0], wide), along(3)), spread);
  return {f.cast(f.add(f.mul(normal, along(1)), along(2)), type)};
}

// ---- Of channels beside each other.

Values lrn(Conversion& c) {
  const int64_t size = c.required_integer("size");
  if (size < 1) throw c.error("`size` is " + std::to_string(size));
  const double bias = c.number("bias", 1), alpha = c.number("alpha", 1e-4), beta = c.number("beta", 0.75);
  if (c.rank(0) == 4 && size % 2 == 1)
    return {c.call("nn.lrn", {c[0]},
                   {{"size", size}, {"axis", 1}, {"bias", bias}, {"alpha", alpha}, {"beta", beta}})};
  // An even window reaches one further behind.
  const Formulas f(c);
  const int rank = c.rank(0);
  if (rank < 2) throw c.error("its data have no channels");
  const int64_t before = (size - 1) / 2;
  const Expr wide = f.cast(c[0], stash_for(c.dtype(0))), squares = f.mul(wide, wide);
  std::vector<int64_t> channel_last{0, 2, 1};
  // Sums over windows of channels: means of a pool along one axis, times its size.
  const Expr flat = c.transpose(c.reshape(squares, {0, 0, -1}), channel_last);
  const Expr pooled = c.call("nn.avg_pool1d", {flat},
                             {{"pool_size", std::vector<int64_t>{size}},
                              {"strides", std::vector<int64_t>{1}},
                              {"padding", std::vector<int64_t>{before, size - 1 - before}},
                              {"count_include_pad", true}});
  const Expr means = c.call("reshape_like", {c.transpose(pooled, channel_last), wide});
  const Expr base = f.plus(f.scaled(alpha, means), bias);
  return {f.cast(f.div(wide, f.of("power", base, f.number(beta, base))), c.dtype(0))};
}

}  // namespace

const std::vector<Operator>& normalization_operators() {
  static const std::vector<Operator> all = {
      {"", "BatchNormalization", {1, 6, 7, 9, 14, 15}, &batch_norm},
      {"", "GroupNormalization", {18, 21}, &group_norm},
      {"", "InstanceNormalization", {1, 6, 22}, &instance_norm},
      {"", "LRN", {1, 13}, &lrn},
      {"", "LayerNormalization", {17}, &layer_norm},
      {"", "RMSNormalization", {23}, &rms_norm},
      {"", "SimplifiedLayerNormalization", {1}, &rms_norm},
  };
  return all;
}

}  // namespace baton::onnx
