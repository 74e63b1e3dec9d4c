#pragma once
// What an operator is to relay.quantize, where a tensor is integers times one scale. An operator's block
// carries its rule; QuantizePartition, QuantizeAnnotate and QuantizeRealize read it. Operators without one
// compute in float.

namespace baton {

struct QuantizationRule {
  enum class Does {
    kLayer,      ///< sums products of narrow data and a narrow weight; their scales multiply
    kProduct,    ///< the same of two tensors, each of which may be data or a weight
    kScale,      ///< multiplies element by element: the scales multiply
    kSum,        ///< adds element by element: its inputs are brought to one scale
    kJoin,       ///< puts the tensors of a tuple side by side, under one scale
    kClip,       ///< cuts to `a_min` and `a_max`, which are divided by the scale
    kSelect,     ///< results are inputs: narrow in, narrow out
    kMean,       ///< adds inputs up, so they are wide
    kTotalMean,  ///< kMean over everything: what follows it is small and stays in float
    kSame,       ///< any integers under any scale: moves elements, or commutes with a positive factor
    kHint,       ///< where integers that leave a kernel become narrow
    kRound,      ///< rounds to integers: simulated_quantize
  };
  Does does;

  /// What QuantizePartition makes of it. Sums, scales and total means are between the two: where kernels
  /// meet.
  enum class Kernel {
    kBetween,
    kBegins,  ///< a kernel on narrow integers
    kJoins,   ///< the kernel that its input comes from
  } kernel = Kernel::kBetween;
};

}  // namespace baton
