// Runs whole programs for tests of passes: calls, lets, ifs, closures, recursion, references, data types.
// Operators are run by their own computes, some that have none by plain loops over float64.
#pragma once

#include <memory>
#include <vector>

#include "baton/ir/module.h"

namespace baton::run {

struct Value;
struct Frame;

/// What an expression evaluates to.
struct Value {
  NDArray array;                                 ///< a tensor
  std::vector<Value> fields;                     ///< a tuple, or the arguments of `constructor`
  std::shared_ptr<Value> cell;                   ///< a reference
  Expr callable;                                 ///< a function, an operator or a constructor
  Frame* frame = nullptr;                        ///< where a function was made; gone with the interpretation
  const ConstructorNode* constructor = nullptr;  ///< of a data type's value
};

Value tensor(NDArray array);
Value tuple_of(std::vector<Value> fields);

/// The result of function `name` of a typed module.
Value interpret(const IRModule& module, const std::string& name, const std::vector<Value>& args);

/// The result of an operator that has no compute, by plain loops; NotSupported for others.
NDArray plain_loops(const CallNode& call, const std::vector<NDArray>& args);

}  // namespace baton::run
