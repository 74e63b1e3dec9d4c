#pragma once
// Views by module and by line as JSON: `modules` and `lines` of a profile, docs/design/0045-views.md. Readers
// of profiles derive them anew.
#include "baton/profile/report/rows.h"
#include "baton/support/json.h"

namespace baton {

/// Rows of module_tree(), each before its children; empty where no operator has a module.
Json modules_json(const ProfileReport& report);
/// Rows of source_times().
Json lines_json(const ProfileReport& report);

}  // namespace baton
