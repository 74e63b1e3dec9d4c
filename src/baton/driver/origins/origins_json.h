#pragma once
// origins.json: a report of origins as text, and back. docs/design/0009-explain-json.md.
#include <string>
#include <string_view>

#include "baton/driver/origins/operator_record.h"

namespace baton {

/// {"schema": 1, "operators": [{...}]}: a row for each operator.
std::string origins_json(const OriginReport& report);

/// As an artifact keeps it: every text once, operators as rows of numbers, deflated. A twelfth of the size.
std::string packed_origins(const OriginReport& report);

/// Reads either. Throws Error where `text` is empty (what was built was stripped of it), of another schema,
/// or damaged.
OriginReport read_origins(std::string_view text);

}  // namespace baton
