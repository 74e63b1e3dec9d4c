#pragma once
// JSON form of reports. The format is a contract: docs/design/0005-profile-json.md.
#include <string>
#include <vector>

#include "baton/profile/report/rows.h"
#include "baton/support/json.h"

namespace baton {

Json to_json(const ProfileReport& report);

/// The inverse of to_json. `shown`: the text's name in errors. Throws Error for malformed input and for other
/// schemas.
ProfileReport read_report(const std::string& json, const std::string& shown);
/// One report, or a list of them.
std::vector<ProfileReport> read_reports(const std::string& json, const std::string& shown);

}  // namespace baton
