// Helpers for tests of passes: programs from text, passes by name, the result as text.
#pragma once

#include <string>
#include <vector>

#include "baton/ir/module.h"
#include "baton/pass/pass.h"

namespace baton {

/// The module of `text` (a main function's, without the version line), with types.
IRModule typed_module(const std::string& text);
/// A pass by name, with operators and passes registered.
Pass named_pass(const std::string& name);
/// A context at `opt_level` that verifies origins. Constants are evaluated by the compiler's evaluator; the
/// operators' results are compared with TVM in the tests of ops/.
PassContextRef test_context(int opt_level);
/// `module` after the passes, each run directly, under test_context(opt_level): no gates.
IRModule run_passes(IRModule module, const std::vector<Pass>& passes, int opt_level = 3,
                    const BuildContext& context = {});
/// The body of main, line by line; optionally with origins as `/* from=LINE:COLUMN */`.
std::string body_text(const IRModule& module, bool origins = false);
/// `main` with parameter `name` replaced by a constant: elements by the tensor rule, between `low` and
/// `high`.
IRModule bind_param(const IRModule& module, const std::string& name, double low = -1, double high = 1);
/// Binds all parameters of `main` except `data`, as in the reference data.
IRModule bind_model(const IRModule& module);

}  // namespace baton
