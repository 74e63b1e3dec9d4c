#pragma once
// origins.json as an artifact keeps it: every text once, operators as rows of numbers, deflated. A twelfth of
// the size.
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace baton {

/// {"schema": 2, "values": [...], "operators": [[...]]} of what origins_json() gave, as a stream of zlib.
std::string packed_origins(std::string_view origins_json);

/// What origins_json() gave, of either form. Throws Error for another schema and a damaged stream,
/// nlohmann::json::exception for what is neither.
nlohmann::ordered_json unpacked_origins(std::string_view origins_json);

/// Fills in the `fused_with` of rows: all operators of their `nodes`, less themselves.
void add_fused_with(nlohmann::ordered_json& operators);

}  // namespace baton
