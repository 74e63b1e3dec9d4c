#pragma once
// Reduces programs with functions to the graphs that graph.json can represent.
#include "baton/ir/module.h"
#include "baton/pass/build_context.h"

namespace baton {

/// What `main` of a typed module has that a graph cannot represent. `functions`: of its own or of the module,
/// which in_graph_form() can inline unless there is `control`: branches, recursion, matches, references.
struct MainForm {
  bool functions = false, control = false;
};
MainForm form_of_main(const IRModuleNode& module);

/// `module` (typed) unchanged, unless its `main` calls functions of the module and uses no branches,
/// recursion or references: then PartialEvaluate inlines them and leaves a graph.
IRModule in_graph_form(const IRModule& module, const BuildContext& context);

}  // namespace baton
