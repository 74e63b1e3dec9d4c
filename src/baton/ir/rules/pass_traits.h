#pragma once
// Operator facts read by single passes and schedule templates, where they do not follow from types,
// attributes or the fusion class.
#include <string_view>

namespace baton {

/// The schedule template (schedule/templates.def) for kernels anchored by this operator.
struct AnchorRule {
  std::string_view of_template;
};

/// A faster approximation of the operator, for FastMath.
struct FastForm {
  std::string_view op;
};

/// How ConvertLayout sets the operator's layouts; operators without this rule take their inputs' layouts.
enum class ConvertedLayout {
  kConvolution,  ///< data_layout and kernel_layout
  kWindows,      ///< layout
};

/// How FoldExplicitPadding merges a preceding pad, with zeros or the least value, into the operator.
enum class OwnPadding {
  kConvolution,           ///< pads with zeros
  kQuantizedConvolution,  ///< pads with the zero point, its third input
  kAverage,               ///< pads with zeros; count_include_pad decides whether they count
  kMaximum,               ///< pads with the least value
};

}  // namespace baton
