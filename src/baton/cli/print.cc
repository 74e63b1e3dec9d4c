#include "baton/cli/verb.h"
#include "baton/driver/load_model.h"

namespace baton::cli {

namespace {

class PrintVerb final : public Verb {
 public:
  PrintVerb() : Verb("print", "Show a model as Relay text, with types.") {}

  void flags(CLI::App& app) override {
    app.add_option("MODEL", model_, "workload name or .relay file")->required();
    app.add_flag("--origins", origins_, "after each call: line and column of the operators it stands for");
  }

  int run(Io& io) override {
    io.out << model_text(*load_model(model_).module, origins_);
    return 0;
  }

 private:
  std::string model_;
  bool origins_ = false;
};

}  // namespace

std::unique_ptr<Verb> print_verb() { return std::make_unique<PrintVerb>(); }

}  // namespace baton::cli
