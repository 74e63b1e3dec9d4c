// Asks each operator what it should be for the kernels there are (ir/legalize_rule.h). What a rule makes stands for the
// call it replaces.
#include "baton/transform/legalize.h"

#include "baton/pass/rewriter.h"
#include "baton/transform/build.h"

namespace baton {

namespace {

using Member = LegalizeRule::Rewrite LegalizeRule::*;

class Legalizer final : public Rewriter {
 public:
  Legalizer(Member which, const LegalizeTarget& target) : which_(which), target_(target) {}

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const auto* call = as<CallNode>(rebuilt);
    const LegalizeRule* rule = call && call->op() ? call->op()->rules.get<LegalizeRule>() : nullptr;
    if (!rule || !(rule->*which_) || !original->checked_type()) return rebuilt;
    std::vector<Type> types;
    for (const Expr& arg : as<CallNode>(original)->args()) types.push_back(arg->checked_type());
    const Expr result = (rule->*which_)(*call, types, original->checked_type(), target_);
    return result ? result : rebuilt;
  }

  Member which_;
  LegalizeTarget target_;
};

Pass legalize_by(Member which, const LegalizeTarget& target) {
  return function_pass({1, "Legalize", {"InferType"}},
                       [which, target](const Function& function, const IRModule&, const PassContext&) {
                         return as_ref<FunctionNode>(Legalizer(which, target).run(function));
                       });
}

}  // namespace

Pass legalize_for(const LegalizeTarget& target) { return legalize_by(&LegalizeRule::legalize, target); }
Pass qnn_legalize_for(const LegalizeTarget& target) { return legalize_by(&LegalizeRule::qnn_legalize, target); }
Pass qnn_canonicalize_for(const LegalizeTarget& target) { return legalize_by(&LegalizeRule::qnn_canonicalize, target); }

Pass qnn_lowering_for(const LegalizeTarget& target) {
  return sequential({qnn_legalize_for(target), qnn_canonicalize_for(target)}, "qnn.Legalize");
}

Pass legalize(const PassArgs& args) {
  PassArgReader reader("Legalize", args);
  const std::string name = reader.text("legalize_map_attr_name", "FTVMLegalize");
  reader.finish();
  if (name == "FTVMLegalize") return legalize_for({});
  if (name == "FTVMQnnLegalize") return qnn_legalize_for({});
  if (name == "FTVMQnnCanonicalize") return qnn_canonicalize_for({});
  throw UsageError("Legalize: legalize_map_attr_name is \"" + name +
                   "\"; there are FTVMLegalize, FTVMQnnLegalize and FTVMQnnCanonicalize");
}

Pass qnn_legalize() { return qnn_legalize_for({}); }
Pass qnn_canonicalize_ops() { return qnn_canonicalize_for({}); }

}  // namespace baton
