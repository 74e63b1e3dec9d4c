#pragma once
// The call graph of a module.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "baton/ir/module.h"

namespace baton {

/// The module functions referenced in `function`, nested functions included.
std::set<std::string> functions_named_by(const Function& function);

class CallGraph {
 public:
  explicit CallGraph(const IRModuleNode& module);
  /// All functions, callees before callers except on cycles.
  const std::vector<std::string>& order() const { return order_; }
  /// Whether the function is recursive, directly or through others.
  bool calls_itself(const std::string& name) const;
  /// The functions referenced by the named one; empty when it does not exist.
  std::set<std::string> callees(const std::string& name) const;
  /// The number of functions that reference it.
  size_t references(const std::string& name) const;

 private:
  void visit(const std::string& first);
  std::map<std::string, std::set<std::string>> calls_;
  std::set<std::string> seen_;
  std::vector<std::string> order_;
};

}  // namespace baton
