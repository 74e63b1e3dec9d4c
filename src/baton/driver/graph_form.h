#pragma once
// Programs with names and functions of their own, as the graph that graph.json can say.
#include "baton/pass/build_context.h"

namespace baton {

/// `module`, typed, as it is; but when its `main` calls functions that stand in it, without branches, loops
/// and references, these are evaluated away (PartialEvaluate) and what is left is a graph.
IRModule in_graph_form(const IRModule& module, const BuildContext& context);

}  // namespace baton
