#include "baton/cli/common.h"
#include "baton/driver/pipeline.h"
#include "baton/pass/origin_verifier.h"
#include "baton/pass/pass.h"
#include "baton/pass/pass_list.h"
#include "baton/pass/timing.h"
#include "baton/pass/trace.h"

namespace baton::cli {

namespace {

class OptVerb final : public Verb {
 public:
  OptVerb() : Verb("opt", "Run passes over a model and show the result as Relay text.") {}

  void flags(Flags& flags) override {
    flags_.add(flags);
    flags.at("opt-level").doc = "0 to 4, of the pass context; a pass that is called by name always runs";
    flags.option(
        "passes", &passes_,
        "in order, with commas: InferType,FuseOps(fuse_opt_level=0); without it all passes of a build, with "
        "weights bound");
    flags.flag("origins", &origins_, "after each call: line and column of the operators it stands for");
    flags.flag("trace", &trace_,
               "instead of the result: what each pass made, merged, split, added and retired, and why");
    flags.flag("timing", &timing_, "instead of the result: how long each pass took, as a tree");
  }

  int run(Io& io) override {
    const LoadedModel model = load_model(flags_.model, flags_.shapes);
    IRModule module = model.module;
    const std::vector<Pass> passes = passes_.empty() ? std::vector<Pass>() : parse_passes(passes_);
    if (passes.empty() || !flags_.params.empty())
      module = bind_params(module, load_params(model, flags_.params, flags_.inputs));
    const BuildContext context = flags_.context();
    const auto trace = std::make_shared<PassTrace>();
    if (trace_) context.passes->instruments.push_back(trace);
    context.passes->instruments.push_back(std::make_shared<OriginVerifier>());
    const auto timer = std::make_shared<PassTimingInstrument>();
    if (timing_) context.passes->instruments = {timer};
    std::string timing;
    {
      const InstrumentScope scope(context.passes);
      for (const Pass& pass : passes) module = (*pass)(module, context);
      if (passes.empty()) module = optimize(module, context);
      if (timing_) timing = timer->render();
    }
    if (trace_)
      io.out << trace_text(trace->steps());
    else if (timing_)
      io.out << timing;
    else
      io.out << model_text(*module, origins_);
    return 0;
  }

 private:
  ModelFlags flags_;
  std::string passes_;
  bool origins_ = false, trace_ = false, timing_ = false;
};

}  // namespace

std::unique_ptr<Verb> opt_verb() { return std::make_unique<OptVerb>(); }

}  // namespace baton::cli
