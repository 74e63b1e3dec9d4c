#pragma once
// Where the parts of a call stand in the text it was read from.
#include <optional>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/support/source.h"

namespace baton {

struct CallText {
  Span callee;                  ///< `nn.conv2d` of `nn.conv2d(%x, %w, ...)`
  std::vector<Span> arguments;  ///< `%x`, `%w`
};

/// Found in the text at the call's span; nothing when the call was not read from text, or is written in
/// another form.
std::optional<CallText> call_text(const CallNode& call);

}  // namespace baton
