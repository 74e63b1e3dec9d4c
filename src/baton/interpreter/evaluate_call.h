#pragma once
// One operator, computed.
#include <functional>

#include "baton/interpreter/values.h"
#include "baton/pass/build_context.h"

namespace baton::program {

/// The passes of a build under a context: a typed module without parameters becomes what a build makes of it.
using Lowering = std::function<IRModule(const IRModule&, const BuildContext&)>;

/// The value of a call of an operator whose arguments have these values: by its compute, else by what
/// `lowering` makes of it. The types in `call` are believed only where the values have them. Throws
/// DiagnosticError when the values do not fit the operator, NotSupported when nothing computes it.
Value evaluate_call(const CallNode& call, const std::vector<Value>& args, const Lowering& lowering,
                    const BuildContext& context);

}  // namespace baton::program
