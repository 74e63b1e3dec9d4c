#include <sstream>

#include "baton/cli/verb.h"
#include "baton/driver/load_model.h"
#include "baton/pass/origin_verifier.h"
#include "baton/pass/pass.h"
#include "baton/support/error.h"

namespace baton::cli {

namespace {

class OptVerb final : public Verb {
 public:
  OptVerb() : Verb("opt", "Run passes over a model and show the result as Relay text.") {}

  void flags(CLI::App& app) override {
    app.add_option("MODEL", model_, "workload name or .relay file")->required();
    app.add_option("--passes", passes_, "names in order, with commas: InferType,FuseOps")->required();
    app.add_option("--opt-level", opt_level_, "of the pass context; a pass that is called by name always runs")
        ->capture_default_str();
    app.add_flag("--origins", origins_, "after each call: line and column of the operators it stands for");
  }

  int run(Io& io) override {
    IRModule module = load_model(model_).module;
    auto context = std::make_shared<PassContext>();
    context->opt_level = opt_level_;
    context->instruments = {std::make_shared<OriginVerifier>()};
    std::vector<Pass> passes;
    std::istringstream names(passes_);
    for (std::string name; std::getline(names, name, ',');) passes.push_back(make_pass(name));
    const PassContextScope scope(context);
    for (const Pass& pass : passes) module = (*pass)(module);
    io.out << model_text(*module, origins_);
    return 0;
  }

 private:
  std::string model_, passes_;
  int opt_level_ = 3;
  bool origins_ = false;
};

}  // namespace

std::unique_ptr<Verb> opt_verb() { return std::make_unique<OptVerb>(); }

}  // namespace baton::cli
