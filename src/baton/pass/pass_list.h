#pragma once
// Passes as the command line and golden files name them: `InferType, FuseOps(fuse_opt_level=0)`.
#include <string>
#include <vector>

#include "baton/pass/pass.h"

namespace baton {

/// Makes the passes of a list. Values as in Relay's text: `["a", "b"]`, `2`, `True`; a dictionary is a list
/// of pairs. UsageError for a list that cannot be read, DiagnosticError for a value, what make_pass throws
/// for passes and arguments.
std::vector<Pass> parse_passes(const std::string& list);

}  // namespace baton
