// Asks each operator what it should be for the kernels there are (ir/legalize_rule.h). What a rule makes stands for the
// call it replaces.
#include "baton/ir/legalize_rule.h"

#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/transform/build.h"

namespace baton {

namespace {

using Member = LegalizeRule::Rewrite LegalizeRule::*;

class Legalizer final : public Rewriter {
 public:
  explicit Legalizer(Member which) : which_(which) {}

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const auto* call = as<CallNode>(rebuilt);
    const LegalizeRule* rule = call && call->op() ? call->op()->rules.get<LegalizeRule>() : nullptr;
    if (!rule || !(rule->*which_) || !original->checked_type()) return rebuilt;
    std::vector<Type> types;
    for (const Expr& arg : as<CallNode>(original)->args()) types.push_back(arg->checked_type());
    const Expr result = (rule->*which_)(*call, types, original->checked_type());
    return result ? result : rebuilt;
  }

  Member which_;
};

Pass legalize_by(Member which) {
  return function_pass({1, "Legalize", {"InferType"}}, [which](const Function& function, const IRModule&, const PassContext&) {
    return as_ref<FunctionNode>(Legalizer(which).run(function));
  });
}

}  // namespace

Pass legalize(const PassArgs& args) {
  PassArgReader reader("Legalize", args);
  const std::string name = reader.text("legalize_map_attr_name", "FTVMLegalize");
  reader.finish();
  if (name == "FTVMLegalize") return legalize_by(&LegalizeRule::legalize);
  if (name == "FTVMQnnLegalize") return legalize_by(&LegalizeRule::qnn_legalize);
  if (name == "FTVMQnnCanonicalize") return legalize_by(&LegalizeRule::qnn_canonicalize);
  throw UsageError("Legalize: legalize_map_attr_name is \"" + name +
                   "\"; there are FTVMLegalize, FTVMQnnLegalize and FTVMQnnCanonicalize");
}

Pass qnn_legalize() {
  return sequential({legalize_by(&LegalizeRule::qnn_legalize), legalize_by(&LegalizeRule::qnn_canonicalize)}, "qnn.Legalize");
}

}  // namespace baton
