#pragma once
// Programs run with values at hand, operator by operator: control flow, recursion, data types, references,
// functions as values, shapes that are not static. Slow beside a build, which does none of these; exact, as
// constant folding is.
#include <memory>

#include "baton/interpreter/evaluate_call.h"
#include "baton/interpreter/values.h"
#include "baton/ir/module.h"

namespace baton::program {

struct Codes;

class InterpretedProgram {
 public:
  /// Prepares `main` of `module` and what it calls. Throws DiagnosticError for a program that does not
  /// type-check, Error without main. `lowering`: as evaluate_call() takes it.
  InterpretedProgram(const IRModule& module, Lowering lowering, const BuildContext& context);
  const std::vector<Var>& params() const { return params_; }
  /// What main returns. Thread safe. Throws Error for arguments that do not fit, NotSupported for an operator
  /// that cannot be computed, Interrupted when asked to stop. Calls nest as deep as kMostPending; a call that
  /// comes last in its function does not count.
  Value run(const std::vector<Value>& args, const BuildContext& context) const;

 private:
  std::vector<Var> params_;
  std::shared_ptr<const Codes> codes_;
};

/// What a function that a program returned, or got, makes of `args`. As InterpretedProgram::run.
Value call_function(const FunctionValue& function, const std::vector<Value>& args,
                    const BuildContext& context);

/// Throws Error, which names the argument, when `value` is none of `type`. Fields of data are not looked at.
void check_argument(const std::string& name, const Type& type, const Value& value);

}  // namespace baton::program
