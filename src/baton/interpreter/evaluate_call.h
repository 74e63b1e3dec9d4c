#pragma once
// One operator, computed.
#include "baton/interpreter/values.h"
#include "baton/pass/build_context.h"

namespace baton::program {

/// The value of a call of an operator whose arguments have these values: by its compute, else by what the
/// passes of a build make of it. The types in `call` are believed only where the values have them. Throws
/// DiagnosticError when the values do not fit the operator, NotSupported when nothing computes it.
Value evaluate_call(const CallNode& call, const std::vector<Value>& args, const BuildContext& context);

}  // namespace baton::program
