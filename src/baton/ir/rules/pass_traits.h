#pragma once
// What single passes and schedule templates ask an operator's block: how it takes part, where that does not
// follow from its type, attributes or fusion class.
#include <string_view>

namespace baton {

/// The schedule template whose kernels this operator may be the heavy one of (schedule/templates.def).
struct AnchorRule {
  std::string_view of_template;
};

/// The operator that computes nearly the same faster: FastMath.
struct FastForm {
  std::string_view op;
};

/// How ConvertLayout sets the operator's layouts; operators without one follow their inputs.
enum class ConvertedLayout {
  kConvolution,  ///< data_layout and kernel_layout
  kWindows,      ///< layout
};

/// How a zero, or least, padding in front of the operator becomes its own: FoldExplicitPadding.
enum class OwnPadding {
  kConvolution,           ///< pads with zeros
  kQuantizedConvolution,  ///< pads with the zero point, its third input
  kAverage,               ///< pads with zeros, which count or do not
  kMaximum,               ///< pads with the least value
};

}  // namespace baton
