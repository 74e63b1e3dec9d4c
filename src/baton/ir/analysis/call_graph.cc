#include "baton/ir/analysis/call_graph.h"

#include "baton/ir/visit.h"

namespace baton {

std::set<std::string> functions_named_by(const Function& function) {
  std::set<std::string> names;
  post_order(Expr(function), [&](const Expr& node) {
    if (const auto* global = as<GlobalVarNode>(node)) names.insert(global->name());
  });
  return names;
}

CallGraph::CallGraph(const IRModuleNode& module) {
  for (const auto& [name, function] : module.functions()) calls_[name] = functions_named_by(function);
  for (const auto& [name, callees] : calls_) visit(name);
}

void CallGraph::visit(const std::string& first) {
  std::vector<std::pair<std::string, bool>> stack{{first, false}};
  while (!stack.empty()) {
    const auto [name, close] = stack.back();
    stack.pop_back();
    if (close) {
      order_.push_back(name);
      continue;
    }
    const auto callees = calls_.find(name);
    if (callees == calls_.end() || !seen_.insert(name).second) continue;
    stack.emplace_back(name, true);
    for (const std::string& callee : callees->second) stack.emplace_back(callee, false);
  }
}

bool CallGraph::calls_itself(const std::string& name) const {
  std::set<std::string> seen;
  std::vector<std::string> todo{name};
  while (!todo.empty()) {
    const auto callees = calls_.find(todo.back());
    todo.pop_back();
    if (callees == calls_.end()) continue;
    for (const std::string& callee : callees->second) {
      if (callee == name) return true;
      if (seen.insert(callee).second) todo.push_back(callee);
    }
  }
  return false;
}

std::set<std::string> CallGraph::callees(const std::string& name) const {
  const auto at = calls_.find(name);
  return at == calls_.end() ? std::set<std::string>() : at->second;
}

size_t CallGraph::references(const std::string& name) const {
  size_t count = 0;
  for (const auto& [caller, callees] : calls_) count += callees.count(name);
  return count;
}

}  // namespace baton
