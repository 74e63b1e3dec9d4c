#pragma once
// Operator facts read by single passes and schedule templates, where they do not follow from types,
// attributes or the fusion class.
#include <optional>
#include <string_view>

namespace baton {

class CallNode;

/// The schedule template (schedule/templates.def) for kernels anchored by this operator.
struct AnchorRule {
  std::string_view of_template;
};

/// Axes of a result, the first and the last of a row of neighbours.
struct AxisRange {
  int first = 0, last = 0;
};

/// Calls that compute each position along neighbouring axes of the result from one position of the data: the
/// same one, or, for convolutions with strides, every s-th of each row. A convolution of one pixel joins H
/// and W of (n, C, H, W) or (n, C, H, W, c), a product of many rows all axes but the last. The compute takes
/// a result whose axes are joined, (n, C, 1, H * W, c), of data that are joined too, or of data with strides
/// as they are.
struct JoinableAxes {
  std::optional<AxisRange> (*of)(const CallNode&);
};

/// Calls whose results are parts of their first operand, with its elements in the same order along every
/// axis: slices, splits, the row that one index names. Who reads such a part can read the operand instead.
struct PartOfOperand {
  bool (*holds)(const CallNode&);
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
