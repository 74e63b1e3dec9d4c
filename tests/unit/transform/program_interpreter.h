// Runs whole programs for tests of passes: calls, lets, ifs, closures, recursion, references, data types.
// Operators are run by their own computes, which the tests of ops/ hold against TVM; those of qnn, which
// passes take apart, by what they mean.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "baton/ir/module.h"
#include "baton/pass/pass.h"

namespace baton::run {

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

/// Runs typed programs one after another. Results of operators are kept, so that two programs with calls in
/// common cost little more than one. NotSupported for operators without compute and loops.
class Interpreter {
 public:
  Interpreter();
  /// The result of function `name`.
  Value run(const IRModule& module, const std::string& name, const std::vector<Value>& args);
  /// Forgets the results of operators.
  void forget() { known_.clear(); }

 private:
  class Run;
  Value operation(const CallNode& call, const std::vector<Value>& args);

  std::shared_ptr<Evaluator> evaluator_;
  std::map<uint64_t, Value> known_;  // by operator, attributes and arguments
};

/// The same, once.
Value interpret(const IRModule& module, const std::string& name, const std::vector<Value>& args);

/// The result of a qnn operator by what it means: real numbers, rounded once to the quanta of the result.
/// Integer arithmetic may be a quantum off at each rounding. Scalar scales and zero points; NotSupported for
/// others.
NDArray plain_quantized(const CallNode& call, const std::vector<NDArray>& args);

/// An element of any type.
double element(const NDArray& array, int64_t at);

}  // namespace baton::run
