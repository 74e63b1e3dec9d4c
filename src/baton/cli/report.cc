#include "baton/cli/outputs.h"
#include "baton/frontend/onnx/model_file.h"
#include "baton/profile/foreign/engine_report.h"
#include "baton/profile/report/curve.h"
#include "baton/profile/views/source_times.h"
#include "baton/support/base/files.h"

namespace baton::cli {

namespace {

class ReportVerb final : public Verb {
 public:
  ReportVerb() : Verb("report", "Show a saved profile, or write it as something else.") {}

  void flags(Flags& flags) override {
    flags.positional(
        "PROFILE", &profile_,
        "what `baton profile -o NAME.json` or `--json` wrote; or, with --model, what another engine "
        "did: the events of ONNX Runtime (enable_profiling), the detailed counters of OpenVINO's "
        "benchmark_app (.json or .csv)");
    flags.option("model", &model_, "the ONNX file that PROFILE of another engine is of");
    flags
        .option("optimized", &optimized_,
                "what ONNX Runtime made of it (SessionOptions.optimized_model_filepath): says which nodes it "
                "fused")
        .needs("model");
    outputs_.add(flags);
  }

  int run(Io& io) override {
    outputs_.check();
    outputs_.refuse_ignored(io);
    const std::vector<ProfileReport> reports = loaded();
    if (is_curve(reports)) {
      outputs_.as_curve();
      outputs_.check();
    }
    std::vector<std::string> labels;
    for (const ProfileReport& report : reports) labels.push_back(report.model);
    if (labels.size() > 1 && !is_curve(reports)) outputs_.check(model_labels(labels));
    outputs_.write(reports, io);
    return 0;
  }

 private:
  std::vector<ProfileReport> loaded() const {
    const Result<std::string> text = read_file(profile_);
    if (!text.ok() || !is_engine_profile(*text)) {
      if (!model_.empty())
        throw UsageError("--model is for profiles of other engines; " + profile_ + " is none");
      return load_reports(profile_);
    }
    EngineProfile profile = read_engine_profile(*text, profile_);
    if (model_.empty())
      throw UsageError(profile_ + " is a profile of " + profile.engine +
                       ": --model MODEL.onnx says of which nodes its steps are");
    const auto file = onnx::read_model_file(model_);
    std::vector<ProfileReport> reports;
    const size_t missing = optimized_.empty() ? 0 : add_optimized_model(profile, optimized_);
    reports.push_back(engine_report(profile, onnx::source_nodes(*file), model_));
    add_source_files(reports.back());
    if (missing)
      reports.back().notes.push_back(std::to_string(missing) + " of its steps are not in " + optimized_);
    return reports;
  }

  std::string profile_, model_, optimized_;
  ProfileOutputs outputs_;
};

}  // namespace

std::unique_ptr<Verb> report_verb() { return std::make_unique<ReportVerb>(); }

}  // namespace baton::cli
