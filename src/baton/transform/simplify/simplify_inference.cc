// What only matters in training goes; normalisations become arithmetic that fusion and FoldScaleAxis can work
// with:
//   f(x, ..)    ->  what the InferenceRule of f says
//   f(x, ..).0  ->  the same, where f has several results (batch_norm, dropout)
// A batch_norm whose new mean or variance is used keeps those: only .0 is replaced.
#include "baton/transform/simplify/simplify_inference.h"

#include "baton/ir/inspect.h"
#include "baton/ir/rules/inference_rule.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"

namespace baton {

namespace {

using Replaces = InferenceRule::Replaces;

class InferenceSimplifier final : public Rewriter {
 public:
  explicit InferenceSimplifier(const std::function<bool(const CallNode&)>& kept) : kept_(kept) {}

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    if (const auto* item = as<TupleGetItemNode>(rebuilt)) {
      if (item->index() != 0) return rebuilt;
      const Expr made =
          simplified(as<TupleGetItemNode>(original)->tuple(), item->tuple(), Replaces::kFirstOfTuple);
      return made ? made : rebuilt;
    }
    const Expr made = simplified(original, rebuilt, Replaces::kResult);
    return made ? made : rebuilt;
  }

  // An item is structure: what replaces it stands for the operator whose result it takes.
  Expr simplified(const Expr& original, const Expr& rebuilt, Replaces what) const {
    const auto *typed = as<CallNode>(original), *call = as<CallNode>(rebuilt);
    const auto* rule = typed && call && call->op() ? call->op()->rules.get<InferenceRule>() : nullptr;
    if (!rule || rule->replaces != what) return nullptr;
    if (what == Replaces::kResult && kept_ && kept_(*typed)) return nullptr;
    const TensorTypeNode* data = tensor_type_of(typed->args()[0]);
    if (!data) return nullptr;
    const OriginScope scope(call->origins());
    return rule->rewrite(*call, *data);
  }

  const std::function<bool(const CallNode&)>& kept_;
};

}  // namespace

Pass simplify_inference_but(std::function<bool(const CallNode&)> kept) {
  return function_pass(
      {0, "SimplifyInference", {"InferType"}},
      [kept = std::move(kept)](const Function& function, const IRModule&, const BuildContext&) {
        return as_ref<FunctionNode>(InferenceSimplifier(kept).run(function));
      },
      /*may_retire=*/true);
}

Pass simplify_inference() { return simplify_inference_but({}); }

}  // namespace baton
