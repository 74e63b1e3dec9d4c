#pragma once
// Display names of operators, from the names of their values in the source text.
#include <string>
#include <string_view>

#include "baton/ir/origin.h"

namespace baton {

/// "%12" for `%12 = nn.conv2d(...)` or a let of %12 in the source text; "14:7" (line, column) for a nested
/// operator; "net.py:12" for one built by a line of Python; its source name (an ONNX node) when there is no
/// text; else "".
std::string origin_name(const Origin& origin);

/// The name and the operator: "%12 nn.conv2d".
std::string origin_label(const Origin& origin);

/// Whether `wanted` selects this operator: its name, "14" for all of a line, "14:7", its source name, the
/// operator's name; or as reports write it: "line 14", "nn.relu line 14", "conv2d 3x3 64->64 @56 + relu, line
/// 14", "add net.py:14".
bool means_origin(std::string_view wanted, const Origin& origin);

/// The same for an operator known only by these fields; line 0: unknown.
struct OperatorNames {
  std::string_view op, name, source;
  uint32_t line = 0, column = 0;
};
bool means_operator(std::string_view wanted, const OperatorNames& names);

}  // namespace baton
