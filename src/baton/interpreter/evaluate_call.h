#pragma once
// Evaluates a single operator call.
#include <functional>

#include "baton/ir/module.h"
#include "baton/pass/build_context.h"
#include "baton/runtime/values/value.h"

namespace baton::program {

/// Lowers a typed module without parameters by a build's passes, under a context.
using Lowering = std::function<IRModule(const IRModule&, const BuildContext&)>;

/// The result of an operator call on these argument values: by its compute, else by its lowered form. The
/// types in `call` are used only where they match the values. Throws DiagnosticError when the values do not
/// fit the operator, NotSupported when it cannot be evaluated.
Value evaluate_call(const CallNode& call, const std::vector<Value>& args, const Lowering& lowering,
                    const BuildContext& context);

}  // namespace baton::program
