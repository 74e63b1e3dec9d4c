// Rewrites by rules (simplify_rules.h) until none applies. A round applies one rule after the other, each to
// the whole function as the one before left it. The forms of one rule are looked for from the result towards
// the inputs; no two share a call, and what a form takes in may be read from outside only by what leads back
// to its root: otherwise it would be computed twice. Rules give every call a type.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "baton/ir/build.h"
#include "baton/ir/visit.h"
#include "baton/pass/dataflow_graph.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/transform/simplify/simplify_rules.h"

namespace baton {

std::vector<const SimplifyRule*> simplify_rules() {
  std::vector<const SimplifyRule*> rules;
  for (const auto* group : {&like_rules(), &identity_rules(), &movement_rules(), &value_rules()})
    for (const SimplifyRule& rule : *group) rules.push_back(&rule);
  return rules;
}

namespace {

constexpr int kMaxRounds = 100;

// TVM 0.11.1 infers types before each of its patterns, in every round, and instruments see it. Our rules keep
// types themselves, so this is done for instruments only.
constexpr int kInferencesPerRound = 22;

void show_inference(const IRModule& module, const BuildContext& context) {
  if (context.passes->instruments.empty()) return;
  const Pass infer_type = make_pass("InferType");
  for (int i = 0; i < kInferencesPerRound; ++i) (*infer_type)(module, context);
}

const std::vector<const SimplifyRule*>& all_rules() {
  static const std::vector<const SimplifyRule*> rules = simplify_rules();
  return rules;
}

/// The numbers of the rules that look at calls of `op`.
const std::vector<size_t>& rules_for(const OpDef& op) {
  static thread_local std::unordered_map<const OpDef*, std::vector<size_t>> by_op;
  const auto [at, fresh] = by_op.try_emplace(&op);
  if (!fresh) return at->second;
  for (size_t i = 0; i < all_rules().size(); ++i) {
    if (all_rules()[i]->root(op)) at->second.push_back(i);
  }
  return at->second;
}

/// A function, and the calls in it that each rule looks at, in post-order.
struct CallsByRule {
  explicit CallsByRule(Function given) : function(std::move(given)), calls(all_rules().size()) {
    post_order(Expr(function), [this](const Expr& node) {
      const auto* call = as<CallNode>(node);
      if (!call || !call->op() || !call->checked_type()) return;
      for (size_t rule : rules_for(*call->op())) calls[rule].push_back(node);
    });
  }
  Function function;
  std::vector<std::vector<Expr>> calls;
};

/// The places where one rule is applied: the roots of its forms.
class Forms {
 public:
  Forms(const SimplifyRule& rule, const CallsByRule& program, size_t number) : root_(program.function) {
    const std::vector<Expr>& calls = program.calls[number];
    for (size_t i = calls.size(); i-- > 0;) {
      std::vector<Expr> inner;
      if (rule.form && (taken_.contains(calls[i].get()) || !rule.form(*as<CallNode>(calls[i]), inner)))
        continue;
      if (!inner.empty() && !is_closed(calls[i], inner)) continue;
      roots_.insert(calls[i].get());
      empty_ = false;
      if (rule.form) taken_.insert(calls[i].get());
      for (const Expr& node : inner) taken_.insert(node.get());
    }
  }
  bool empty() const { return empty_; }
  bool contains(const Expr& call) const { return roots_.contains(call.get()); }

 private:
  bool is_closed(const Expr& root, const std::vector<Expr>& inner) {
    if (!graph_) graph_.emplace(Expr(root_));
    const uint32_t top = graph_->number_of(root.get());
    for (const Expr& node : inner) {
      if (taken_.contains(node.get())) return false;
      for (uint32_t user : graph_->users(graph_->number_of(node.get()))) {
        const bool within = user == top || std::ranges::any_of(inner, [&](const Expr& other) {
                              return other == (*graph_)[user];
                            });
        if (!within && !graph_->post_dominated(user, top)) return false;
      }
    }
    return true;
  }

  Function root_;
  std::optional<DataflowGraph> graph_;  // made when a form takes in more than its root
  PointerSet roots_, taken_;
  bool empty_ = true;
};

class Simplifier final : public Rewriter {
 public:
  Simplifier(const SimplifyRule& rule, const Forms& forms, const BuildContext& context)
      : rule_(rule),
        forms_(forms),
        folds_(find_evaluator(*context.passes) ? &context : nullptr),
        exact_floats_(context.exact_floats) {}
  bool changed() const { return changed_; }

 private:
  bool enter(const Expr&) override { return true; }

  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const Type& type = original->checked_type();
    const Expr result = with_type(rebuilt, type);
    if (!forms_.contains(original)) return result;
    const auto& call = *as<CallNode>(result);
    SimplifyMatch match{call, type, {}, folds_, exact_floats_};
    for (const Expr& arg : call.args()) match.arg_types.push_back(arg->checked_type());
    const Expr simpler = rule_.apply(match);
    if (!simpler) return result;
    changed_ = true;
    return with_type(simpler, type);
  }

  const SimplifyRule& rule_;
  const Forms& forms_;
  const BuildContext* folds_;
  bool exact_floats_;
  bool changed_ = false;
};

/// One rule after the other; whether one of them changed something.
bool apply_all(std::optional<CallsByRule>& program, const BuildContext& context) {
  bool changed = false;
  for (size_t i = 0; i < all_rules().size(); ++i) {
    const SimplifyRule& rule = *all_rules()[i];
    if (program->calls[i].empty()) continue;
    const Forms forms(rule, *program, i);
    if (forms.empty()) continue;
    Simplifier simplifier(rule, forms, context);
    Function simpler = as_ref<FunctionNode>(simplifier.run(program->function));
    if (!simplifier.changed()) continue;
    changed = true;
    program.emplace(std::move(simpler));
  }
  return changed;
}

}  // namespace

Pass simplify_expr() {
  return function_pass(
      {0, "SimplifyExpr", {"InferType"}},
      [](const Function& function, const IRModule& module, const BuildContext& context) {
        std::optional<CallsByRule> program(function);
        for (int round = 0; round < kMaxRounds; ++round) {
          show_inference(module, context);
          if (!apply_all(program, context)) break;
        }
        return program->function;
      },
      /*may_retire=*/true);
}

}  // namespace baton
