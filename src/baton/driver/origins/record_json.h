#pragma once
// The record of an operator as JSON: which fields each form has, and how they are written and read, stands in
// one table.
#include <nlohmann/json_fwd.hpp>

#include "baton/driver/origins/operator_record.h"

namespace baton {

enum class RecordForm {
  kOrigins,  ///< origins.json: docs/design/0009-explain-json.md
  kExplain,  ///< `baton explain --json`, `lib.origins` in Python: the same note
  kProfile,  ///< a row of a profile, its times null: docs/design/0005-profile-json.md
};

nlohmann::ordered_json to_json(const OperatorRecord& record, RecordForm form);
nlohmann::ordered_json attr_json(const AttrValue& value);
/// The attributes as an object.
nlohmann::ordered_json attrs_json(const OperatorRecord& record);

/// Reads what to_json wrote. Throws nlohmann::json::exception for what is no record of that form.
OperatorRecord read_record(const nlohmann::ordered_json& json, RecordForm form);

/// Each text once, operators as rows of numbers: {"schema": 2, "values": [...], "operators": [[...]]}.
nlohmann::ordered_json packed(const OriginReport& report);
/// Throws nlohmann::json::exception for what packed() cannot have written. `fused_with` is left empty.
OriginReport unpacked(const nlohmann::ordered_json& json);

}  // namespace baton
