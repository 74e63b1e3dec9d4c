// Losses of classes; random numbers, which are refused.
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
  const Dim classes = type.shape()[1];
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

/// Those of other engines cannot be had again, and differ from one run to the next.
Values random_numbers(Conversion& c) { throw c.not_supported("random numbers"); }

}  // namespace

const std::vector<Operator>& loss_operators() {
  static const std::vector<Operator> all = {
      {"", "Bernoulli", {15, 22}, &random_numbers},
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
