#include "baton/cli/outputs.h"

namespace baton::cli {

namespace {

class ReportVerb final : public Verb {
 public:
  ReportVerb() : Verb("report", "Show a saved profile, or write it as something else.") {}

  void flags(Flags& flags) override {
    flags.positional("PROFILE", &profile_, "what `baton profile -o NAME.json` or `--json` wrote");
    outputs_.add(flags);
  }

  int run(Io& io) override {
    outputs_.check();
    outputs_.refuse_ignored(io);
    const std::vector<ProfileReport> reports = load_reports(profile_);
    std::vector<std::string> labels;
    for (const ProfileReport& report : reports) labels.push_back(report.model);
    if (labels.size() > 1) outputs_.check(model_labels(labels));
    outputs_.write(reports, io);
    return 0;
  }

 private:
  std::string profile_;
  ProfileOutputs outputs_;
};

}  // namespace

std::unique_ptr<Verb> report_verb() { return std::make_unique<ReportVerb>(); }

}  // namespace baton::cli
