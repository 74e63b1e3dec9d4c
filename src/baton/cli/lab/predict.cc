#include "baton/cli/common.h"
#include "baton/cli/outputs.h"
#include "baton/driver/build.h"
#include "baton/predict/model/predict_model.h"
#include "baton/predict/predictor_file.h"
#include "baton/profile/report/report.h"
#include "baton/store/store.h"
#include "baton/support/error.h"
#include "baton/support/version.h"

namespace baton::cli {

namespace {

class PredictVerb final : public Verb {
 public:
  using Verb::Verb;

  void flags(Flags& flags) override {
    flags_.add(flags);
    flags_.add_target(flags);
    flags.option("predictor", &predictor_,
                 "the file that `baton train` wrote; by default one that comes with Baton, of this machine");
    flags.option(
        "for-device", &for_device_,
        "predict for this device, by the name that the predictor has for it (zen5), and not for this "
        "machine");
    flags.option("store", &store_, "measurements: where they are of this very kernel, they answer");
    flags.option("threads", &threads_, "threads of the runs; 0: the most that the predictor was trained with")
        .range(0, 256);
    flags.option("level", &level_, "of the intervals: 0.9 holds the time in 9 of 10 cases")
        .show_default()
        .range(0.01, 0.999);
    outputs_.add(flags);
  }

  int run(Io& io) override {
    outputs_.check();
    outputs_.refuse_ignored(io, false);
    const DeviceSheet& here = DeviceSheet::host();
    const FoundPredictor found = predictor_.empty() ? find_predictor(here, for_device_)
                                                    : FoundPredictor{predictor_, load_predictor(predictor_)};
    const Predictor& predictor = found.predictor;
    std::optional<Store> store;
    if (!store_.empty()) store = Store::open(store_, Store::Mode::kRead);
    PredictOptions options;
    options.predictor = &predictor;
    options.predictor_name = found.path;
    options.device = predicted_device(predictor, found.path, here, for_device_);
    options.store = store ? &*store : nullptr;
    options.threads = threads_;
    options.level = level_;
    const BuiltModel planned =
        build_model(flags_, io, nullptr, [&](const IRModule& module, BuildOptions how) {
          how.context = context_of_device(options.device, how.context);
          options.context = how.context;
          return plan_build(module, how);
        });
    options.context.progress = {};
    options.context.interrupt = nullptr;
    PredictedReport made = predict(planned.build, options);
    ProfileReport& report = made.report;
    static_cast<ReportHead&>(report) = report_head(planned.model, flags_.opt_level);
    outputs_.table(report, io);
    outputs_.write({report}, io);
    return 0;
  }

 private:
  ModelFlags flags_;
  std::string predictor_, for_device_, store_;
  int threads_ = 0;
  double level_ = 0.9;
  ProfileOutputs outputs_;
};

}  // namespace

std::unique_ptr<Verb> predict_verb(std::string name, std::string doc) {
  return std::make_unique<PredictVerb>(std::move(name), std::move(doc));
}

}  // namespace baton::cli
