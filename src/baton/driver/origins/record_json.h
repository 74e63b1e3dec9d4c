#pragma once
// JSON forms of operator records; one table lists the fields of each form and their readers and writers.
#include "baton/driver/origins/operator_record.h"
#include "baton/support/json.h"

namespace baton {

enum class RecordForm {
  kOrigins,  ///< origins.json: docs/design/0009-explain-json.md
  kExplain,  ///< `baton explain --json`, `lib.origins` in Python: same schema
  kProfile,  ///< a row of a profile with null times: docs/design/0005-profile-json.md
};

Json to_json(const OperatorRecord& record, RecordForm form);
Json attr_json(const AttrValue& value);
/// The attributes as a JSON object.
Json attrs_json(const OperatorRecord& record);

/// The inverse of to_json. Throws JsonError for malformed records.
OperatorRecord read_record(const Json& json, RecordForm form);

/// Deduplicated values and operators as rows of indices: {"schema": 2, "values": [...], "operators":
/// [[...]]}.
Json packed(const OriginReport& report);
/// The inverse of packed(). Throws JsonError for malformed input. `fused_with` is left empty.
OriginReport unpacked(const Json& json);

}  // namespace baton
