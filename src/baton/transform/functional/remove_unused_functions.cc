// Removes functions unreachable from the entry functions. Their operators are retired.

#include <set>

#include "baton/ir/analysis/call_graph.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"

namespace baton {

namespace {

std::set<std::string> reached(const IRModuleNode& module, const std::vector<std::string>& entries) {
  std::set<std::string> names;
  std::vector<std::string> todo(entries.begin(), entries.end());
  while (!todo.empty()) {
    const std::string name = todo.back();
    todo.pop_back();
    const Function function = module.find(name);
    if (!function || !names.insert(name).second) continue;
    for (const std::string& callee : functions_named_by(function)) todo.push_back(callee);
  }
  return names;
}

}  // namespace

Pass remove_unused_functions(const PassArgs& args) {
  PassArgReader reader("RemoveUnusedFunctions", args);
  const auto entries = reader.texts("entry_functions", {"main"});
  reader.finish();
  return module_pass(
      {1, "RemoveUnusedFunctions", {}},
      [entries](IRModule module, const PassContext&) {
        const std::set<std::string> used = reached(*module, entries);
        const auto functions = module->functions();
        for (const auto& [name, function] : functions) {
          if (used.count(name)) continue;
          post_order(Expr(function), [&, &name = name](const Expr& node) {
            retire(node->origins(), "@" + name + " is not reached from an entry function");
          });
          module->remove(name);
        }
        return module;
      },
      /*may_retire=*/true);
}

}  // namespace baton
