#pragma once
// What other compilers take: for each operator and compiler a predicate on calls, as users register it
// (`tvm.ir.register_op_attr("nn.dense", "target.dnnl")`). A table of its own: OpDef is the same for all users
// of a process.
#include <functional>
#include <string>
#include <string_view>

#include "baton/ir/expr.h"

namespace baton {

using TakesCall = std::function<bool(const Expr& call)>;

inline constexpr int kDefaultRuleLevel = 10;

/// Compiler `compiler` takes calls of `op` for which `takes` is true. A rule of a higher level replaces one
/// of a lower, which changes nothing when it comes later; UsageError for two of one level, and when there is
/// no such operator.
void register_target_rule(const std::string& op, const std::string& compiler, TakesCall takes,
                          int level = kDefaultRuleLevel);
/// Forgets the rule, if there is one.
void reset_target_rule(const std::string& op, const std::string& compiler);
/// Null when `compiler` has no rule for `op`.
const TakesCall* find_target_rule(const OpDef& op, std::string_view compiler);

}  // namespace baton
