#include "baton/cli/common.h"
#include "baton/cli/outputs.h"
#include "baton/predict/model/run_predict.h"
#include "baton/profile/report/report.h"
#include "baton/profile/views/source_times.h"

namespace baton::cli {

namespace {

class PredictVerb final : public Verb {
 public:
  using Verb::Verb;

  void flags(Flags& flags) override {
    flags_.add(flags);
    flags_.add_target(flags);
    command_.add(flags);
    outputs_.add(flags);
  }

  int run(Io& io) override {
    outputs_.check();
    outputs_.refuse_ignored(io, false);
    const FoundPredictor found = predictor_of(command_);
    ProfileReport report;
    const BuiltModel planned =
        build_model(flags_, io, nullptr, [&](const IRModule& module, const BuildOptions& how) {
          report = run_predict(command_, found.predictor, found.path, module, how);
          return BuildResult();
        });
    static_cast<ReportHead&>(report) = report_head(planned.model, flags_.opt_level);
    add_source_files(report);
    outputs_.table(report, io);
    outputs_.write({report}, io);
    return 0;
  }

 private:
  ModelFlags flags_;
  PredictCommand command_;
  ProfileOutputs outputs_;
};

}  // namespace

std::unique_ptr<Verb> predict_verb(std::string name, std::string doc) {
  return std::make_unique<PredictVerb>(std::move(name), std::move(doc));
}

}  // namespace baton::cli
