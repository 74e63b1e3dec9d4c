// What this machine can run, and how fast its devices and the links between them are.
#include "baton/cli/common.h"
#include "baton/driver/initialize.h"
#include "baton/profile/report/target_survey.h"
#include "baton/runtime/thread_pool.h"

namespace baton::cli {

namespace {

class TargetsVerb final : public Verb {
 public:
  TargetsVerb()
      : Verb("targets", "List what this machine can run, with measured rates of devices and links.") {}

  void flags(Flags& flags) override {
    flags.option("target", &targets_, "a device to list beside those that ship: \"sim -sheet=FILE\"");
    flags.flag("quick", &quick_, "only what is there, or why not: nothing is measured");
    flags.flag("again", &again_, "measure although the cache has rates of the last 24 hours");
    flags.flag("json", &json_, "one JSON object on standard output");
    add_threads(flags, &threads_);
  }

  int run(Io& io) override {
    if (quick_) refuse_options(io, {"again", "threads"}, "--quick measures nothing");
    initialize();
    BuildContext context = host_context();
    std::vector<TargetRef> targets;
    for (const std::string& target : targets_) targets.push_back(Target::parse(target));
    set_targets(context, std::move(targets));
    Progress progress(io);
    const InterruptScope interrupt;
    SurveyOptions options;
    options.measure = !quick_;
    options.again = again_;
    options.threads = threads_ > 0 ? threads_ : default_threads();
    options.interrupt = interrupt.flag();
    options.progress = [&](const std::string& what, int done, int total) {
      progress.show(what, done, total);
    };
    const Json survey = survey_targets(context, KernelCache::shared(), options);
    progress.clear();
    io.out << (json_ ? survey.dump() + "\n" : survey_text(survey, io.terminal ? io.columns : 0));
    return 0;
  }

 private:
  std::vector<std::string> targets_;
  bool quick_ = false, again_ = false, json_ = false;
  int threads_ = 0;
};

}  // namespace

std::unique_ptr<Verb> targets_verb() { return std::make_unique<TargetsVerb>(); }

}  // namespace baton::cli
