#pragma once
// Locates the parts of a call in its source text.
#include <optional>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/support/source.h"

namespace baton {

struct CallText {
  Span callee;                  ///< `nn.conv2d` of `nn.conv2d(%x, %w, ...)`
  std::vector<Span> arguments;  ///< `%x`, `%w`
};

/// Parsed from the source text at the call's span; nullopt when the call was not parsed from text, or has
/// another syntactic form.
std::optional<CallText> call_text(const CallNode& call);

}  // namespace baton
