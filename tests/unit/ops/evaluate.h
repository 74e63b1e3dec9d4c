#pragma once
// Evaluates typed functions call by call, with the operators' unscheduled computes.
#include <functional>
#include <string>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// Runs one call of an operator on these arrays (tuples flattened); `result` is its type, without a `?`.
using RunCall = std::function<std::vector<NDArray>(const CallNode& call, const std::vector<NDArray>& args,
                                                   const Type& result)>;

/// By the operator's compute, with every stage evaluated separately and no template.
std::vector<NDArray> run_stages(const CallNode& call, const std::vector<NDArray>& args, const Type& result);
/// `call` alone, on parameters typed like `args`, as the function of a kernel.
Function kernel_function(const CallNode& call, const std::vector<NDArray>& args, const Type& result);
/// By the kernel that a build would compile for the call alone; empty `template_name`: the first applicable
/// template.
RunCall run_kernel_of(const std::string& template_name);

/// As constant folding does: interpreted if possible and fast, else compiled.
RunCall run_folded();

/// The outputs of `function` (tuples flattened) for `inputs`, one array per parameter.
std::vector<NDArray> evaluate(const Function& function, const std::vector<NDArray>& inputs,
                              const RunCall& run = run_stages);

}  // namespace baton
