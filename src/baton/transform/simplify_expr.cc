// Rewrites by rules (simplify_rules.h) until none applies. Arguments are simplified first, a result again, so
// one round nearly always does; another follows where a rule made calls below its result. Rules give every
// call a type.
#include <algorithm>
#include <unordered_map>

#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/transform/build.h"
#include "baton/transform/simplify_rules.h"

namespace baton {

std::vector<const SimplifyRule*> simplify_rules() {
  std::vector<const SimplifyRule*> rules;
  for (const auto* group : {&shape_rules(), &arithmetic_rules()})
    for (const SimplifyRule& rule : *group) rules.push_back(&rule);
  return rules;
}

namespace {

constexpr int kMaxRounds = 100;

// TVM 0.11.1 infers types before each of its patterns, in every round, and instruments see it. Our rules keep types
// themselves, so this is for who watches only.
constexpr int kInferencesPerRound = 22;

void show_inference(const IRModule& module, const PassContext& context) {
  if (context.instruments.empty()) return;
  const Pass infer_type = make_pass("InferType");
  for (int i = 0; i < kInferencesPerRound; ++i) (*infer_type)(module);
}

/// The rules by operator, so that a call is shown only to those that may apply.
const std::vector<const SimplifyRule*>& rules_for(const OpDef& op) {
  static thread_local std::unordered_map<const OpDef*, std::vector<const SimplifyRule*>> by_op;
  const auto [at, fresh] = by_op.try_emplace(&op);
  if (fresh)
    for (const SimplifyRule* rule : simplify_rules())
      if (rule->ops.empty() || std::ranges::find(rule->ops, op.name) != rule->ops.end())
        at->second.push_back(rule);
  return at->second;
}

class Simplifier final : public Rewriter {
 public:
  explicit Simplifier(Evaluator* evaluator) : evaluator_(evaluator) {}
  bool changed() const { return changed_; }

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const Type& type = original->checked_type();
    Expr result = with_type(rebuilt, type);
    if (!type) return result;
    for (bool again = true; again;) {
      again = false;
      const auto* call = as<CallNode>(result);
      if (!call || !call->op()) return result;
      for (const SimplifyRule* rule : rules_for(*call->op())) {
        const Expr simpler = apply(*rule, *call, type);
        if (!simpler) continue;
        result = with_type(simpler, type);
        changed_ = again = true;
        break;
      }
    }
    return result;
  }

  Expr apply(const SimplifyRule& rule, const CallNode& call, const Type& type) {
    SimplifyMatch match{call, type, {}, evaluator_};
    for (const Expr& arg : call.args()) match.arg_types.push_back(arg->checked_type());
    const OriginScope scope(call.origins());
    return rule.apply(match);
  }

  Evaluator* evaluator_;
  bool changed_ = false;
};

Evaluator* evaluator_if_any(const PassContext& context) {
  try {
    return &evaluator_of(context);
  } catch (const NotSupported&) {
    return nullptr;
  }
}

}  // namespace

Pass simplify_expr() {
  return function_pass(
      {0, "SimplifyExpr", {"InferType"}},
      [](const Function& function, const IRModule& module, const PassContext& context) {
        Evaluator* evaluator = evaluator_if_any(context);
        Function current = function;
        for (int round = 0; round < kMaxRounds; ++round) {
          show_inference(module, context);
          Simplifier simplifier(evaluator);
          current = as_ref<FunctionNode>(simplifier.run(current));
          if (!simplifier.changed()) break;
        }
        return current;
      },
      /*may_retire=*/true);
}

}  // namespace baton
