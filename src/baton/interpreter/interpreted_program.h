#pragma once
// The Relay interpreter: runs programs operator by operator, with control flow, recursion, data types,
// references, closures and dynamic shapes. Slower than a build, which supports none of these; as exact as
// constant folding.
#include <memory>

#include "baton/interpreter/evaluate_call.h"
#include "baton/ir/module.h"

namespace baton::program {

/// Variables of symbolic extents, and their values.
using ExtentValues = std::vector<std::pair<Dim, int64_t>>;

struct Codes;

class InterpretedProgram {
 public:
  /// Prepares `main` of `module` and its callees. Throws DiagnosticError for a program that does not
  /// type-check, Error without main. `lowering`: see evaluate_call().
  InterpretedProgram(const IRModule& module, Lowering lowering, const BuildContext& context);
  const std::vector<Var>& params() const { return params_; }
  /// The result of main. Thread safe. Throws Error for arguments that do not fit, NotSupported for an
  /// operator that cannot be evaluated, Interrupted on cancellation. Calls nest up to kMostPending; tail
  /// calls do not count.
  Value run(const std::vector<Value>& args, const BuildContext& context) const;

 private:
  std::vector<Var> params_;
  std::shared_ptr<const Codes> codes_;
};

/// Calls a function value, e.g. one returned by the program. See InterpretedProgram::run.
Value call_function(const FunctionValue& function, const std::vector<Value>& args,
                    const BuildContext& context);

/// Throws Error, naming the argument, when `value` does not have type `type`. Fields of data type values are
/// not checked.
/// `extents`: the values that earlier arguments gave to variables of symbolic extents; those of this one are
/// added.
void check_argument(const std::string& name, const Type& type, const Value& value, ExtentValues& extents);

}  // namespace baton::program
