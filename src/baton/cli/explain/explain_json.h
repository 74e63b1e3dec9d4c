#pragma once
// `baton explain --json`: docs/design/0009-explain-json.md.
#include "baton/cli/explain/explain_subject.h"
#include "baton/support/json.h"

namespace baton::cli {

/// The header: model and Baton version.
Json explain_head(const Subject& subject);

/// The operator's record, and `steps`: the effect of each pass on it (null for an artifact).
Json operator_json(const Subject& subject, uint32_t id);

/// A node of graph.json; with `code`, also the facts of its kernel.
Json kernel_json(const Subject& subject, uint32_t node, bool code);

}  // namespace baton::cli
