#pragma once
// `baton explain --json`: docs/design/0009-explain-json.md.
#include <nlohmann/json_fwd.hpp>

#include "baton/cli/explain/explain_subject.h"

namespace baton::cli {

/// The header: model and Baton version.
nlohmann::ordered_json explain_head(const Subject& subject);

/// The operator's record, and `steps`: the effect of each pass on it (null for an artifact).
nlohmann::ordered_json operator_json(const Subject& subject, uint32_t id);

/// A node of graph.json; with `code`, also the facts of its kernel.
nlohmann::ordered_json kernel_json(const Subject& subject, uint32_t node, bool code);

}  // namespace baton::cli
