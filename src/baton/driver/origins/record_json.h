#pragma once
// JSON forms of operator records; one table lists the fields of each form and their readers and writers.
#include <nlohmann/json_fwd.hpp>

#include "baton/driver/origins/operator_record.h"

namespace baton {

enum class RecordForm {
  kOrigins,  ///< origins.json: docs/design/0009-explain-json.md
  kExplain,  ///< `baton explain --json`, `lib.origins` in Python: same schema
  kProfile,  ///< a row of a profile with null times: docs/design/0005-profile-json.md
};

nlohmann::ordered_json to_json(const OperatorRecord& record, RecordForm form);
nlohmann::ordered_json attr_json(const AttrValue& value);
/// The attributes as a JSON object.
nlohmann::ordered_json attrs_json(const OperatorRecord& record);

/// The inverse of to_json. Throws nlohmann::json::exception for malformed records.
OperatorRecord read_record(const nlohmann::ordered_json& json, RecordForm form);

/// Deduplicated values and operators as rows of indices: {"schema": 2, "values": [...], "operators":
/// [[...]]}.
nlohmann::ordered_json packed(const OriginReport& report);
/// The inverse of packed(). Throws nlohmann::json::exception for malformed input. `fused_with` is left empty.
OriginReport unpacked(const nlohmann::ordered_json& json);

}  // namespace baton
