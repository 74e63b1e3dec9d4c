#pragma once
// Runs typed functions by the plain computes of their operators, one call after another.
#include <functional>
#include <string>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// Runs one call of an operator on these arrays (tuples flattened); `result` is its type, without a `?`.
using RunCall = std::function<std::vector<NDArray>(const CallNode& call, const std::vector<NDArray>& args,
                                                   const Type& result)>;

/// By the operator's compute, every stage on its own, without a template.
std::vector<NDArray> run_stages(const CallNode& call, const std::vector<NDArray>& args, const Type& result);
/// `call` alone, on parameters like `args`, as the function that a kernel is made of.
Function kernel_function(const CallNode& call, const std::vector<NDArray>& args, const Type& result);
/// By the kernel that a build would make of the call alone; `template_name` empty: by the first template that
/// takes it.
RunCall run_kernel_of(const std::string& template_name);

/// As constant folding would: interpreted if that is possible and quick, else compiled.
RunCall run_folded();

/// The outputs of `function` (tuples flattened) for `inputs`, one array per parameter.
std::vector<NDArray> evaluate(const Function& function, const std::vector<NDArray>& inputs,
                              const RunCall& run = run_stages);

}  // namespace baton
