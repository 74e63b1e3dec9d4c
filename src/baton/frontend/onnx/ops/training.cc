// What training needs: losses of classes, and dropout. Random numbers by themselves are refused.
#include "baton/frontend/onnx/operators.h"
#include "baton/frontend/onnx/ops/formulas.h"

namespace baton::onnx {

namespace {

/// -log of the probability of each target, weighted; `log_probabilities` are (N, C, d1, ...).
Expr likelihood_loss(const Conversion& c, const Expr& log_probabilities) {
  const Formulas f(c);
  const TensorTypeNode& type = tensor_type(log_probabilities);
  if (type.rank() < 2)
    throw c.error("its first input is of rank " + std::to_string(type.rank()) + ", and has no classes");
  const Dim classes = type.shape().at(1);
  if (classes.is_any()) throw c.not_supported("classes whose number is not known");
  const std::string reduction = c.text("reduction", "mean");
  if (reduction != "mean" && reduction != "sum" && reduction != "none")
    throw c.error("`reduction` is \"" + reduction + "\", and should be mean, sum or none");
  const DType stash = type.dtype() == DType::float_(64) ? type.dtype() : DType::float_(32);
  const Expr weights =
      c.has(2) ? f.cast(c[2], stash)
               : c.call("ones", {}, {{"shape", std::vector<int64_t>{classes.value()}}, {"dtype", stash}});
  // No target is the least number: without the attribute, all of them count.
  constexpr int64_t kNone = INT32_MIN;
  const Expr loss = c.call("nn.nll_loss", {f.cast(log_probabilities, stash), c[1], weights},
                           {{"reduction", reduction}, {"ignore_index", c.integer("ignore_index", kNone)}});
  return f.cast(loss, type.dtype());
}

Values negative_log_likelihood_loss(Conversion& c) { return {likelihood_loss(c, c[0])}; }

Values softmax_cross_entropy_loss(Conversion& c) {
  const Expr logarithms = c.call("nn.log_softmax", {c[0]}, {{"axis", 1}});
  return {likelihood_loss(c, logarithms), logarithms};
}

// ---- Dropout

/// True where a uniform random number reaches `ratio`. The same ones in each run, by the node's seed.
Expr kept(const Conversion& c, const Expr& ratio) {
  const Formulas f(c);
  std::vector<int64_t> shape;
  for (const Dim each : c.type(0).shape()) {
    if (each.is_any()) throw c.not_supported("random zeros in data whose shape is not known");
    shape.push_back(each.value());
  }
  // A generator: its key, which is the seed, no path, no counter, and the first bit of a path.
  const std::vector<uint64_t> words{
      static_cast<uint64_t>(c.integer("seed", 0)), 0, 0, 0, 0, 0, 0, 0, uint64_t{1} << 63, 0};
  const Expr key = c.constant(NDArray::of<uint64_t>({10}, words, DType::uint_(64)));
  const Expr numbers = c.item(c.call("random.uniform", {key, c.scalar(0, kFloat32), c.scalar(1, kFloat32)},
                                     {{"out_shape", shape}, {"out_dtype", kFloat32}}),
                              1);
  return f.of("greater_equal", numbers, ratio);
}

/// Whether to train, and the ratio, are inputs from version 12 on: not trained where it is not given.
Values dropout(Conversion& c) {
  const Formulas f(c);
  const bool never =
      c.version < 12 || !c.has(2) || (c.constant(2) && c.constant(2)->value().as<uint8_t>()[0] == 0);
  const bool none = c.version >= 12 && c.has(1) && c.constant(1) && scalar_value(c[1]) == 0;
  if (never || none) {
    Values results{c.value(0)};
    if (c.wants(1)) results.emplace_back(f.of("ones_like", f.cast(c[0], kBool)));
    return results;
  }
  if (c.constant(2) && (!c.has(1) || c.constant(1))) throw c.not_supported("random zeros (`training_mode`)");
  const Expr ratio = c.has(1) ? f.cast(c.reshape(c[1], {}), kFloat32) : c.scalar(0.5, kFloat32),
             trains = c.reshape(c[2], {}), one = c.scalar(1, kFloat32);
  const Expr mask = f.of("logical_or", f.of("logical_not", trains), kept(c, ratio));
  const Expr scale = f.where(trains, f.div(one, f.sub(one, ratio)), one);
  const Expr scaled = f.mul(c[0], f.cast(scale, c.dtype(0)));
  return {f.where(mask, scaled, f.number(0, scaled)), mask};
}

/// Those of other engines cannot be had again, and differ from one run to the next.
Values random_numbers(Conversion& c) { throw c.not_supported("random numbers"); }

}  // namespace

const std::vector<Operator>& training_operators() {
  static const std::vector<Operator> all = {
      {"", "Bernoulli", {15, 22}, &random_numbers},
      {"", "Dropout", {1, 6, 7, 10, 12, 13, 22}, &dropout},
      {"", "Multinomial", {7, 22}, &random_numbers},
      {"", "NegativeLogLikelihoodLoss", {12, 13, 22}, &negative_log_likelihood_loss},
      {"", "RandomNormal", {1, 22}, &random_numbers},
      {"", "RandomNormalLike", {1, 22}, &random_numbers},
      {"", "RandomUniform", {1, 22}, &random_numbers},
      {"", "RandomUniformLike", {1, 22}, &random_numbers},
      {"", "SoftmaxCrossEntropyLoss", {12, 13}, &softmax_cross_entropy_loss},
  };
  return all;
}

}  // namespace baton::onnx
