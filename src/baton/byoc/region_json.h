#pragma once
// A region as graph JSON, the form that TVM's runtimes for libraries take.
#include <string>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// The constants in a function's body, each once, in post-order.
std::vector<NDArray> region_constants(const FunctionNode& region);

/// `region`, typed, as TVM's graph JSON; baton_compiler.h describes it. Calls of composite functions are
/// kernels under the composite's name. Constants are named `<symbol>_const_<i>`, where i counts
/// region_constants(numbered); `numbered` has the same constants, usually as the same function.
/// NotSupported for control flow, closures and symbolic shapes.
std::string region_json(const FunctionNode& region, const std::string& symbol, const FunctionNode& numbered);

}  // namespace baton
