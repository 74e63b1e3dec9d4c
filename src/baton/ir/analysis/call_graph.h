#pragma once
// Which functions of a module call which.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "baton/ir/module.h"

namespace baton {

/// Every function of the module that `function` names, also inside functions in it.
std::set<std::string> functions_named_by(const Function& function);

class CallGraph {
 public:
  explicit CallGraph(const IRModuleNode& module);
  /// All functions; what one names comes before it, but for cycles.
  const std::vector<std::string>& order() const { return order_; }
  /// Also over other functions.
  bool calls_itself(const std::string& name) const;
  /// The functions that this one names; nothing when there is none of that name.
  std::set<std::string> callees(const std::string& name) const;
  /// How many functions name it.
  size_t references(const std::string& name) const;

 private:
  void visit(const std::string& first);
  std::map<std::string, std::set<std::string>> calls_;
  std::set<std::string> seen_;
  std::vector<std::string> order_;
};

}  // namespace baton
