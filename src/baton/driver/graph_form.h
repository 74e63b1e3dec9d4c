#pragma once
// Reduces programs with functions to the graphs that graph.json can represent.
#include "baton/pass/build_context.h"

namespace baton {

/// `module` (typed) unchanged, unless its `main` calls functions of the module and uses no branches,
/// recursion or references: then PartialEvaluate inlines them and leaves a graph.
IRModule in_graph_form(const IRModule& module, const BuildContext& context);

}  // namespace baton
