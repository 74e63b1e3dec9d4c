#include "baton/byoc/pattern_rewrite.h"

#include <algorithm>

#include "baton/byoc/pattern_groups.h"
#include "baton/byoc/typed_expr.h"
#include "baton/ir/origin_scope.h"
#include "baton/ir/structural.h"
#include "baton/pass/rewriter.h"
#include "baton/support/error.h"

namespace baton {

namespace {

class Partitioner final : public Rewriter {
 public:
  Partitioner(const PatternGroups& groups, const FunctionAttrs& attrs, const DFCheck& check, CutTypes types)
      : groups_(groups), attrs_(attrs), check_(check), types_(types) {}

 private:
  bool enter(const Expr&) override { return true; }
  Type type_of_rebuilt(const ExprNode& node) const override {
    return types_ == CutTypes::kGiven ? node.checked_type() : Type();
  }

  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const PatternGroup* group = groups_.at(original.get());
    if (!group || (check_ && !check_(original))) return rebuilt;
    std::vector<Expr> args;
    args.reserve(group->inputs.size());
    for (const Expr& input : group->inputs) args.push_back(mapped(input));
    return make_call(Expr(cut_out(*group)), std::move(args), {},
                     NodeInfo(group->origins, {}, type_of_rebuilt(*original)));
  }

  Function cut_out(const PatternGroup& group) const {
    FunctionAttrs attrs;
    attrs.reserve(1 + attrs_.size());
    attrs.emplace_back("PartitionedFromPattern", group.name);
    for (const auto& [name, value] : attrs_) {
      const auto at = std::ranges::find(attrs, name, &FunctionAttrs::value_type::first);
      if (at == attrs.end())
        attrs.emplace_back(name, value);
      else
        at->second = value;
    }
    if (types_ != CutTypes::kGiven)
      return make_function(group.params, group.body, {}, std::move(attrs), NodeInfo(group.origins));
    std::vector<Type> params;
    params.reserve(group.params.size());
    for (const Var& param : group.params) params.push_back(param->checked_type());
    const Type result = group.body->checked_type();
    return make_function(group.params, group.body, result, std::move(attrs),
                         NodeInfo(group.origins, {}, func_type(std::move(params), result)));
  }

  const PatternGroups& groups_;
  const FunctionAttrs& attrs_;
  const DFCheck& check_;
  const CutTypes types_;
};

class CallbackRewriter final : public Rewriter {
 public:
  CallbackRewriter(const PatternGroups& groups, const DFCallback& callback, Replaced replaced)
      : groups_(groups), callback_(callback), replaced_(replaced) {}

 private:
  bool enter(const Expr&) override { return true; }

  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const PatternGroup* group = groups_.at(original.get());
    if (!group) return rebuilt;
    DFMatches rewritten;
    for (const auto& [pattern, exprs] : group->matches.all())
      for (const Expr& expr : exprs) rewritten.add(pattern, expr == original ? rebuilt : mapped(expr));
    const Expr result = in_scope(group->origins, original, rebuilt, rewritten);
    if (!result)
      throw UsageError("the callback of a dataflow pattern returned nothing for " +
                       dataflow_pattern_text(callback_.pattern));
    if (replaced_ == Replaced::kRetired)
      retire(group->origins, "replaced by the callback of a dataflow pattern");
    return result;
  }

  // When no operator matched, there are no origins: replacement nodes get those of the open scope, such as
  // the enclosing pass's. Outside of passes they are user code.
  Expr in_scope(const OriginSet& origins, const Expr& before, const Expr& after,
                const DFMatches& matches) const {
    if (origins.empty() && !outer_) {
      const OriginPause pause;
      return callback_.rewrite(before, after, matches);
    }
    const OriginScope scope(origins.empty() ? *outer_ : origins);
    return callback_.rewrite(before, after, matches);
  }

  const PatternGroups& groups_;
  const DFCallback& callback_;
  const Replaced replaced_;
  const OriginSet* const outer_ = OriginScope::current();
};

}  // namespace

Expr dataflow_partition(const DFPattern& pattern, const Expr& expr, const FunctionAttrs& attrs,
                        const DFCheck& check, CutTypes types) {
  BATON_CHECK(types == CutTypes::kLeftOpen || expr->checked_type(),
              "the types of an expression that has none");
  const PatternGroups groups(pattern, expr, types == CutTypes::kGiven);
  return groups.empty() ? expr : Partitioner(groups, attrs, check, types).run(expr);
}

Expr dataflow_rewrite(const std::vector<DFCallback>& callbacks, const Expr& expr, const IRModule& module,
                      Replaced replaced) {
  constexpr int kRounds = 100;
  Expr now = expr;
  bool once = false;
  for (int round = 0; round < kRounds;) {
    const Expr before = now;
    for (const DFCallback& callback : callbacks) {
      if (callback.require_type) now = typed_expr(now, module.get());
      const PatternGroups groups(callback.pattern, now, false);
      if (!groups.empty()) now = CallbackRewriter(groups, callback, replaced).run(now);
      once = callback.rewrite_once;
      ++round;
    }
    if (callbacks.empty() || once || now == before || structural_equal(before, now, true)) return now;
  }
  throw UsageError("Observed 100 rewrite passes, possible conflicting passes?");
}

}  // namespace baton
