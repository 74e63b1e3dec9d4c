#pragma once
// Serializes origin reports as origins.json. docs/design/0009-explain-json.md.
#include <string>
#include <string_view>

#include "baton/driver/origins/operator_record.h"

namespace baton {

/// {"schema": 1, "operators": [{...}]}: one row per operator.
std::string origins_json(const OriginReport& report);

/// The form stored in artifacts: deduplicated texts, operators as rows of numbers, deflated. A twelfth of the
/// size.
std::string packed_origins(const OriginReport& report);

/// Reads either form. Throws Error when `text` is empty (stripped), of another schema, or damaged.
OriginReport read_origins(std::string_view text);

}  // namespace baton
