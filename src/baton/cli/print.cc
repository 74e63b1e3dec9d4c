#include "baton/cli/common.h"
#include "baton/driver/fused_module.h"
#include "baton/pass/pass.h"
#include "baton/support/json.h"
#include "baton/text/printer.h"

namespace baton::cli {

namespace {

class PrintVerb final : public Verb {
 public:
  PrintVerb() : Verb("print", "Show a model as Relay text, with types.") {}

  void flags(Flags& flags) override {
    flags_.add(flags);
    flags
        .option("stage", &stage_,
                "imported: as it was read; optimized: after all passes of a build, with weights bound; "
                "fused: as it is "
                "lowered, its functions named as the kernels of graph.json")
        .choices({"imported", "optimized", "fused"})
        .show_default();
    flags.flag("origins", &origins_, "after each call: line and column of the operators it stands for");
    flags.flag("constants", &constants_,
               "with the values of constants, so that the text can be read back (it may be large)");
    flags.flag("json", &json_, "the text as JSON: schema, model, stage, text");
  }

  int run(Io& io) override {
    if (stage_ == "imported")
      refuse_options(io, {"params", "input-name", "opt-level", "precision"},
                     "the program is printed as it was read (--stage optimized and fused are built)");
    const LoadedModel model = load_model(flags_.model, flags_.shapes);
    const std::string text = text_of(*(stage_ == "imported" ? model.module : lowered(model)));
    if (json_)
      io.out << Json{{"schema", 1}, {"model", model.name}, {"stage", stage_}, {"text", text}}.dump() << '\n';
    else
      io.out << text;
    return 0;
  }

 private:
  std::string text_of(const IRModuleNode& module) const {
    if (!constants_) return model_text(module, origins_);
    PrintOptions options;
    options.spans = false;
    options.origins = origins_;
    return print(module, options);
  }

  IRModule lowered(const LoadedModel& model) const {
    BuildOptions options;
    options.context = flags_.context();
    options.params = load_params(model, flags_.params, flags_.inputs);
    const IRModule optimized = optimized_for_build(model.module, options);
    return stage_ == "fused" ? fused_module(optimized, make_plan(optimized)) : optimized;
  }

  ModelFlags flags_;
  std::string stage_ = "imported";
  bool origins_ = false, constants_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Verb> print_verb() { return std::make_unique<PrintVerb>(); }

}  // namespace baton::cli
