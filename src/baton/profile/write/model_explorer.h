#pragma once
// Exports a report for Google's Model Explorer: graphs, and times to colour their nodes by.
#include <string>
#include <vector>

#include "baton/profile/report/rows.h"

namespace baton {

/// A collection of graphs. "operators": the source, one node per operator, in layers named after the kernels
/// that compute them; folded and retired operators have layers of their own. "modules", where operators have
/// some: the same in the layers of their modules. "kernels": the plan, one node per kernel. Node ids are
/// "op3" and "kernel7" (the node of graph.json).
std::string explorer_graphs(const ProfileReport& report);

/// "fused_us", "inside_us", "unfused_us".
const std::vector<std::string>& explorer_quantities();

/// Node data for these graphs: microseconds by node id, with a gradient from white to red.
/// - fused_us: a kernel's median; an operator's portion of its kernels (portions.h), so that a layer's sum
///   does not exceed its kernel;
/// - inside_us: an operator's time as measured inside its kernels, not scaled; a kernel's sum over operators;
/// - unfused_us: an operator's time without fusion; a kernel's sum over its operators.
/// Unmeasured nodes are omitted.
std::string explorer_data(const ProfileReport& report, const std::string& quantity);

}  // namespace baton
