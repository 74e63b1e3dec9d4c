#pragma once
// Reads tests/reference: outputs of TVM 0.11.1.
#include <string>
#include <vector>

#include "baton/support/json.h"

namespace baton::text {

/// The cases of a file of JSON lines, `*.jsonl` or `*.jsonl.gz`.
std::vector<Json> reference(const std::string& file);

}  // namespace baton::text
