// An interpreter of whole programs for tests of passes: calls, lets, ifs, closures, recursion, references,
// data types. Operators use their own computes, which the tests of ops/ compare with TVM; those of qnn, which
// passes lower, use their real-number semantics.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "baton/ir/module.h"
#include "baton/pass/pass.h"

namespace baton::run {

struct Frame;

/// The value of an expression.
struct Value {
  NDArray array;                ///< a tensor
  std::vector<Value> fields;    ///< a tuple, or the arguments of `constructor`
  std::shared_ptr<Value> cell;  ///< a reference
  Expr callable;                ///< a function, an operator or a constructor
  Frame* frame = nullptr;       ///< the frame where a function was created; freed with the interpretation
  const ConstructorNode* constructor = nullptr;  ///< of a data type's value
};

Value tensor(NDArray array);
Value tuple_of(std::vector<Value> fields);

/// Runs typed programs. Results of operators are cached, so that two programs with calls in common cost
/// little more than one. NotSupported for operators without compute and for loops.
class Interpreter {
 public:
  Interpreter();
  /// The result of function `name`.
  Value run(const IRModule& module, const std::string& name, const std::vector<Value>& args);
  /// Clears the cached results of operators.
  void forget() { known_.clear(); }

 private:
  class Run;
  Value operation(const CallNode& call, const std::vector<Value>& args);

  std::shared_ptr<Evaluator> evaluator_;
  std::map<uint64_t, Value> known_;  // by operator, attributes and arguments
};

/// The same for a single program.
Value interpret(const IRModule& module, const std::string& name, const std::vector<Value>& args);

/// The result of a qnn operator in real arithmetic, rounded once to the quantisation of the result. Integer
/// arithmetic may differ by one quantum per rounding. Scalar scales and zero points; NotSupported for others.
NDArray plain_quantized(const CallNode& call, const std::vector<NDArray>& args);

/// An element of any type as a double.
double element(const NDArray& array, int64_t at);

}  // namespace baton::run
