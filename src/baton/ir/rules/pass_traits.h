#pragma once
// Operator facts read by single passes and schedule templates, where they do not follow from types,
// attributes or the fusion class.
#include <string_view>

namespace baton {

class CallNode;

/// The schedule template (schedule/templates.def) for kernels anchored by this operator.
struct AnchorRule {
  std::string_view of_template;
};

/// Calls of a convolution on (n, C, H, W) or (n, C, H, W, c) that compute each pixel of the result from one
/// pixel of the data: the same one, or with strides every s-th of each row. Its compute takes a result whose
/// rows are joined, (n, C, 1, H * W) or (n, C, 1, H * W, c), of data that are joined too, or of data with
/// strides as they are.
struct OnePixelRule {
  bool (*applies)(const CallNode&);
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
