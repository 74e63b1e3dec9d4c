#pragma once
// Which calls external compilers support: for each operator and compiler a predicate, as registered by users
// (`tvm.ir.register_op_attr("nn.dense", "target.dnnl")`). A separate table, since OpDefs are immutable and
// shared by the process.
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

using TakesCall = std::function<bool(const Expr& call)>;

inline constexpr int kDefaultRuleLevel = 10;
inline constexpr int kBackendRuleLevel = 0;  ///< of the rules in a backend's record
/// The level of rules that AnnotateTarget follows only if asked to (`offered`): a code generator could
/// compile nearly everything, but a script that partitions for it says itself what it takes.
inline constexpr int kOfferedRuleLevel = -1;

/// Declares that `compiler` supports the calls of `op` that satisfy `takes`. A rule of a higher level
/// overrides one of a lower level, whatever the order; UsageError for equal levels, and for an unknown
/// operator.
void register_target_rule(const std::string& op, const std::string& compiler, TakesCall takes,
                          int level = kDefaultRuleLevel);
/// The rules of a backend's record, by operator, instead of those of an earlier record of that name. Rules of
/// users stay. `level`: kBackendRuleLevel or kOfferedRuleLevel.
using TargetRules = std::vector<std::pair<std::string, TakesCall>>;
void set_backend_rules(const std::string& compiler, TargetRules rules, int level);
/// Removes the rule of users, if there is one; that of a backend is followed again.
void reset_target_rule(const std::string& op, const std::string& compiler);
/// The rule, or null; one of kOfferedRuleLevel only if `offered`. Thread safe, as are the functions above.
std::shared_ptr<const TakesCall> find_target_rule(const OpDef& op, std::string_view compiler,
                                                  bool offered = false);

}  // namespace baton
