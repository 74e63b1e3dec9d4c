#pragma once
// Pass lists as written on the command line and in golden files: `InferType, FuseOps(fuse_opt_level=0)`.
#include <string>
#include <vector>

#include "baton/pass/pass.h"

namespace baton {

/// Parses a list of passes. Values use Relay's text syntax: `["a", "b"]`, `2`, `True`; a dictionary is a list
/// of pairs. UsageError for a malformed list, DiagnosticError for a malformed value, and make_pass's errors
/// for passes and arguments.
std::vector<Pass> parse_passes(const std::string& list);

}  // namespace baton
