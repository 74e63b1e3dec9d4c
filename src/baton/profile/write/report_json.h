#pragma once
// A report as JSON and back. The form is a contract: docs/design/0005-profile-json.md.
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "baton/profile/report/rows.h"

namespace baton {

nlohmann::ordered_json to_json(const ProfileReport& report);

/// Reads what to_json wrote. `shown` names the text in errors. Throws Error for what is no profile, or one of
/// another schema.
ProfileReport read_report(const std::string& json, const std::string& shown);

}  // namespace baton
