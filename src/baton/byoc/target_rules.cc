#include "baton/byoc/target_rules.h"

#include <map>
#include <mutex>

#include "baton/ir/op.h"
#include "baton/support/diagnostic.h"
#include "baton/support/error.h"

namespace baton {

namespace {

struct Rule {
  std::shared_ptr<const TakesCall> takes;
  int level;
};

// By compiler, then operator.
using Rules = std::map<std::string, std::map<const OpDef*, Rule>, std::less<>>;

Rules& user_rules() {
  static Rules rules;
  return rules;
}
// Apart from those of users, which hide them until they are reset.
Rules& backend_rules() {
  static Rules rules;
  return rules;
}

const Rule* rule_in(const Rules& rules, const OpDef& op, std::string_view compiler) {
  const auto at = rules.find(compiler);
  if (at == rules.end()) return nullptr;
  const auto rule = at->second.find(&op);
  return rule == at->second.end() ? nullptr : &rule->second;
}

// Backends may be registered while another thread annotates.
std::mutex& rules_mutex() {
  static std::mutex mutex;
  return mutex;
}

const OpDef& op_named(const std::string& name) {
  const OpDef* op = find_op(name);
  if (!op) throw UsageError("no operator is called `" + name + "`");
  return *op;
}

}  // namespace

void register_target_rule(const std::string& op, const std::string& compiler, TakesCall takes, int level) {
  Rule rule{std::make_shared<const TakesCall>(std::move(takes)), level};
  const std::lock_guard lock(rules_mutex());
  auto [at, fresh] = user_rules()[compiler].try_emplace(&op_named(op), rule);
  if (fresh) return;
  if (at->second.level == level)
    throw UsageError("attribute target." + compiler + " of " + op + " is already registered with level " +
                     std::to_string(level) + "; give another level, or reset it first");
  if (at->second.level < level) at->second = std::move(rule);
}

void set_backend_rules(const std::string& compiler, TargetRules given, int level) {
  const std::lock_guard lock(rules_mutex());
  auto& known = backend_rules()[compiler];
  known.clear();
  for (auto& [op, takes] : given)
    known.try_emplace(&op_named(op), Rule{std::make_shared<const TakesCall>(std::move(takes)), level});
}

void reset_target_rule(const std::string& op, const std::string& compiler) {
  const std::lock_guard lock(rules_mutex());
  const auto at = user_rules().find(compiler);
  if (at != user_rules().end()) at->second.erase(&op_named(op));
}

std::shared_ptr<const TakesCall> find_target_rule(const OpDef& op, std::string_view compiler, bool offered) {
  const std::lock_guard lock(rules_mutex());
  if (const Rule* rule = rule_in(user_rules(), op, compiler)) return rule->takes;
  const Rule* rule = rule_in(backend_rules(), op, compiler);
  return rule && (rule->level != kOfferedRuleLevel || offered) ? rule->takes : nullptr;
}

}  // namespace baton
