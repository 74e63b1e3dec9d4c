#pragma once
// Reads tests/reference: what TVM 0.11.1 printed.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace baton::text {

/// The cases of a file of JSON lines, `*.jsonl` or `*.jsonl.gz`.
std::vector<nlohmann::json> reference(const std::string& file);

}  // namespace baton::text
