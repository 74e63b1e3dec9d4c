#pragma once
// How relay.quantize treats an operator; quantised tensors are integers times one scale. Attached through
// OpDef::rules, read by QuantizePartition, QuantizeAnnotate and QuantizeRealize. Operators without a rule
// stay in floating point.

namespace baton {

struct QuantizationRule {
  enum class Does {
    kLayer,      ///< contraction of narrow data with a narrow weight; the scales are multiplied
    kProduct,    ///< contraction of two tensors, each data or a weight
    kScale,      ///< elementwise multiplication; the scales are multiplied
    kSum,        ///< elementwise addition; the operands are rescaled to a common scale
    kJoin,       ///< concatenation of a tuple under a common scale
    kClip,       ///< clamps to `a_min` and `a_max`, which are divided by the scale
    kSelect,     ///< selects elements (max pooling): narrow input, narrow result
    kMean,       ///< accumulates inputs (average pooling): wide integers
    kTotalMean,  ///< global kMean; its consumers stay in floating point
    kSame,       ///< valid for any integers and scale: moves elements, or commutes with a positive factor
    kHint,       ///< marks where integers are narrowed at the end of a kernel
    kRound,      ///< rounds to integers: simulated_quantize
  };
  Does does;

  /// The role in QuantizePartition.
  enum class Kernel {
    kBetween,  ///< on the border between kernels: sums, scales, global means
    kBegins,   ///< starts a kernel on narrow integers
    kJoins,    ///< part of the kernel that computes its input
  } kernel = Kernel::kBetween;
};

/// Numbers become integers by the operator, and back, beside products and quotients (partition_conversions).
struct NumberConversion {};

}  // namespace baton
