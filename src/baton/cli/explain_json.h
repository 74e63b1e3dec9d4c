#pragma once
// `baton explain --json`: docs/design/0009-explain-json.md.
#include <nlohmann/json_fwd.hpp>

#include "baton/cli/explain_subject.h"

namespace baton::cli {

/// The head: which model, built by which Baton.
nlohmann::ordered_json explain_head(const Subject& subject);

/// The map's row, and `steps`: what each pass did with the operator (null for an artifact).
nlohmann::ordered_json operator_json(const Subject& subject, uint32_t id);

/// A node of graph.json; with `code`, what is known of its kernel too.
nlohmann::ordered_json kernel_json(const Subject& subject, uint32_t node, bool code);

}  // namespace baton::cli
