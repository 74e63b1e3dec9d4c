#pragma once
// Whether a model is like those that a predictor was judged with in training.
#include <array>
#include <span>
#include <string>
#include <vector>

namespace baton {

/// What the kernels of a model say of how far off its prediction may be.
struct ModelDoubts {
  double novelty = 0;       ///< their distances to training, in the mean over the model's time
  double spread = 0;        ///< the error to expect, in the logarithm
  double disagreement = 0;  ///< of the predictor's members, in the mean over the model's time
  double unseen = 0;        ///< part of the time that is spent in kernels unlike all in training
};

/// The rule: each of the first three doubts has a p-value, the part of the models held out in training whose
/// doubt is as great, and Fisher's sum of the three is compared with what 90 % of these models stayed below.
/// One alone says little: kernels of a family that training has not are often near to others in features, or
/// have small errors expected.
struct ModelRange {
  std::array<std::vector<double>, 3> doubts;  ///< novelty, spread, disagreement of models held out, ascending
  double limit = 0;                           ///< of strangeness(); 0: too few models to take one from

  static ModelRange of(std::span<const ModelDoubts> held_out);
  /// Minus the logarithms of the three p-values, summed up: 0 for a model without doubts.
  double strangeness(const ModelDoubts& model) const;
  /// Above 1: out of range. Without a limit the novelty tells.
  double relative(const ModelDoubts& model) const;
  /// Why the model's prediction is only a guess; empty: it is not.
  std::string outside(const ModelDoubts& model) const;

 private:
  std::array<double, 3> p_values(const ModelDoubts& model) const;
};

}  // namespace baton
