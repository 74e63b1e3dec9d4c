// Asks each operator what it should be for the kernels there are (ir/rules/legalize_rule.h). What a rule
// makes stands for the call it replaces. What the user has registered for an operator (transform/op_hooks.h)
// is asked instead of its rule.
#include "baton/transform/quantize/legalize.h"

#include "baton/ir/build.h"
#include "baton/ir/rules/legalize_rule.h"
#include "baton/pass/rewriter.h"
#include "baton/target/processor.h"
#include "baton/transform/op_hooks.h"

namespace baton {

namespace {

using Member = LegalizeRule::Rewrite LegalizeRule::*;

class Legalizer final : public Rewriter {
 public:
  Legalizer(Member which, OpQuestion question, const LegalizeTarget& target)
      : which_(which), question_(question), target_(target) {}

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const auto* call = as<CallNode>(rebuilt);
    if (call && call->op() && original->checked_type()) {
      if (const auto hook = op_hook(*call->op(), question_)) {
        const Expr result = *hook ? (*hook)({*as<CallNode>(original), call->args()}) : Expr();
        return result ? result : rebuilt;
      }
    }
    const LegalizeRule* rule = call && call->op() ? call->op()->rules.get<LegalizeRule>() : nullptr;
    if (!rule || !(rule->*which_) || !original->checked_type()) return rebuilt;
    std::vector<Type> types;
    for (const Expr& arg : as<CallNode>(original)->args()) types.push_back(arg->checked_type());
    const Expr result = (rule->*which_)(*call, types, original->checked_type(), target_);
    return result ? result : rebuilt;
  }

  Member which_;
  OpQuestion question_;
  LegalizeTarget target_;
};

LegalizeTarget legalize_target(const BuildContext& context) {
  LegalizeTarget wanted{.requantize = context.requantize};
  const Target* target = context.target();
  if (!target || target->kind != "llvm") return wanted;
  wanted.fast_int8 = has_sse42(*target);
  wanted.vnni = has_vnni(*target);
  return wanted;
}

Pass legalize_by(Member which, OpQuestion question) {
  return function_pass(
      {1, "Legalize", {"InferType"}},
      [which, question](const Function& function, const IRModule&, const BuildContext& context) {
        return as_ref<FunctionNode>(Legalizer(which, question, legalize_target(context)).run(function));
      });
}

}  // namespace

Pass qnn_legalize() { return legalize_by(&LegalizeRule::qnn_legalize, OpQuestion::kQnnLegalize); }
Pass qnn_canonicalize_ops() {
  return legalize_by(&LegalizeRule::qnn_canonicalize, OpQuestion::kQnnCanonicalize);
}
Pass qnn_lowering() { return sequential({qnn_legalize(), qnn_canonicalize_ops()}, "qnn.Legalize"); }

Pass legalize(const PassArgs& args) {
  PassArgReader reader("Legalize", args);
  const std::string name = reader.text("legalize_map_attr_name", "FTVMLegalize");
  reader.finish();
  if (name == "FTVMLegalize") return legalize_by(&LegalizeRule::legalize, OpQuestion::kLegalize);
  if (name == "FTVMQnnLegalize") return qnn_legalize();
  if (name == "FTVMQnnCanonicalize") return qnn_canonicalize_ops();
  throw UsageError("Legalize: legalize_map_attr_name is \"" + name +
                   "\"; there are FTVMLegalize, FTVMQnnLegalize and FTVMQnnCanonicalize");
}

}  // namespace baton
