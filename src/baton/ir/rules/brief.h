#pragma once
// Short descriptions of operator calls for reports: the name with the sizes that tell two calls of one
// operator apart, "conv2d 3x3/2 64->128 @56". The rule in an operator's block says which sizes; the default
// is the shape of the result.
#include <string>

#include "baton/ir/rules/cost.h"

namespace baton {

/// The sizes of a typed call, without the operator's name; may be empty. Unknown extents are shown as "?".
struct BriefRule {
  std::string (*sizes)(const CostQuery&);
};

/// (data, weight) -> result in `data_layout`: "3x3/2 64->128 @56", kernel / stride, channels, extent of the
/// data; "3x3 depthwise 32 @112", "groups=4", "dilated=2", "x8" for a batch of 8 where they apply. For
/// transposed convolutions too.
BriefRule conv_brief();
/// (data, ...) -> result of windows in `layout`: "3x3/2 64 @112", window / stride, channels, extent of the
/// data; without the window for global and adaptive pools.
BriefRule window_brief();
/// (data, weight) -> result: "512->1000", the innermost extents; "x32" for 32 rows.
BriefRule dense_brief();
/// (a, b) -> result: "64x128x32", rows, summed extent, columns; "x12" for a batch of 12.
BriefRule matmul_brief();

/// The operator's name as people say it: "conv2d" for "nn.conv2d".
std::string brief_name(const std::string& op);
/// A call of an operator: "conv2d 3x3 64->64 @56"; the name alone where its types are not known.
std::string brief_of_call(const CallNode& call);
/// The calls of a function, in order of evaluation: "layout_transform 1x4x56x56x16 + add 1x4x56x56x16".
std::string brief_of_function(const FunctionNode& function);

}  // namespace baton
