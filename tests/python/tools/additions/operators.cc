// A verb: src/baton/cli/operators.cc and BATON_VERB(operators_verb).
#include "baton/cli/common.h"
#include "baton/driver/initialize.h"
#include "baton/ir/op.h"

namespace baton::cli {

namespace {

class OperatorsVerb final : public Verb {
 public:
  OperatorsVerb() : Verb("operators", "List the operators.") {}
  void flags(Flags& flags) override { flags.flag("docs", &docs_, "with what each does"); }
  int run(Io& io) override {
    initialize();
    for (const OpDef* op : all_ops()) io.out << op->name << (docs_ ? ": " + op->doc : "") << '\n';
    return 0;
  }

 private:
  bool docs_ = false;
};

}  // namespace

std::unique_ptr<Verb> operators_verb() { return std::make_unique<OperatorsVerb>(); }

}  // namespace baton::cli
