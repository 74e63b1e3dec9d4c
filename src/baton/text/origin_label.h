#pragma once
// How people call an operator: by the name that the text it was read from gives its value.
#include <string>
#include <string_view>

#include "baton/ir/origin.h"

namespace baton {

/// "%12" where the text says `%12 = nn.conv2d(...)`, or lets %12 be it; "14:7" (line, column) for an operator
/// inside another, its source's own name (an ONNX node) where there is no text; else "".
std::string origin_name(const Origin& origin);

/// The name and the operator: "%12 nn.conv2d".
std::string origin_label(const Origin& origin);

/// Whether `wanted` means this operator: its name, "14" for all of a line, "14:7", its source name, or the
/// operator's name.
bool means_origin(std::string_view wanted, const Origin& origin);

/// The same of an operator that is known by these alone; line 0: it has none.
struct OperatorNames {
  std::string_view op, name, source;
  uint32_t line = 0, column = 0;
};
bool means_operator(std::string_view wanted, const OperatorNames& names);

}  // namespace baton
