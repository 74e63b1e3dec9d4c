#pragma once
// What a program computes, by the plainest way there is: one operator after another, as the text says.
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "baton/ir/module.h"
#include "baton/pass/pass.h"

namespace baton::properties {

/// Evaluates typed programs; keeps results, so that two programs with calls in common cost little more than one.
class ModuleEvaluator {
 public:
  ModuleEvaluator();
  /// The tensors that `main` returns, parameters by the rule of the reference data. Lets, branches, tuples, calls of functions
  /// (global ones and literals) are followed; NotSupported for closures, references, data types, and operators without compute.
  std::vector<NDArray> run(const IRModule& module);

 private:
  struct Frame {
    std::unordered_map<const ExprNode*, Expr> values;
  };
  Expr value(const Expr& expr, Frame& frame);
  Expr compute(const Expr& expr, Frame& frame);
  Expr call(const CallNode& call, Frame& frame);
  Expr operator_call(const CallNode& call, std::vector<Expr> args);

  std::shared_ptr<Evaluator> evaluator_;
  IRModule module_;
  std::map<uint64_t, Expr> known_;  // results of operators by operator, attributes and arguments
};

/// Largest difference between two lists of tensors, relative to 1 + the larger magnitude; infinity when shapes or types differ.
double difference(const std::vector<NDArray>& a, const std::vector<NDArray>& b);

}  // namespace baton::properties
