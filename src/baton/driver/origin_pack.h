#pragma once
// origins.json as an artifact keeps it: every text once, operators as rows of numbers. A fourth of the size.
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace baton {

/// {"schema": 2, "values": [...], "operators": [[...]]} of what origins_json() gave.
std::string packed_origins(std::string_view origins_json);

/// What origins_json() gave, of either form. Throws Error for another schema, nlohmann::json::exception for what is none.
nlohmann::ordered_json unpacked_origins(std::string_view origins_json);

/// Fills in the `fused_with` of rows: all operators of their `nodes`, less themselves.
void add_fused_with(nlohmann::ordered_json& operators);

}  // namespace baton
