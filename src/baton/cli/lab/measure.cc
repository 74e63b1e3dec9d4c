#include "baton/campaign/run_measure.h"
#include "baton/cli/common.h"
#include "baton/profile/write/table_format.h"

namespace baton::cli {

namespace {

class MeasureVerb final : public Verb {
 public:
  using Verb::Verb;

  void flags(Flags& flags) override {
    flags
        .positionals("MODEL", &command_.models,
                     "workload names or .relay files, measured whole and kernel by kernel")
        .required(false);
    command_.add(flags);
    flags.flag("dry-run", &dry_run_, "list what it would measure");
    flags.flag("status", &status_, "what the store has of this campaign; measures nothing");
    flags.flag("json", &json_, "one JSON object on standard output");
  }

  int run(Io& io) override {
    refuse_ignored(io);
    if (status_) return status(io);
    const InterruptScope interrupt;
    command_.interrupt = interrupt.flag();
    if (dry_run_) return list(measured_design(command_), io);
    Progress progress(io);
    command_.progress = [&](const CampaignProgress& now) {
      std::string what = now.phase;
      if (now.per_hour > 0) what += " (" + std::to_string(static_cast<int>(now.per_hour)) + " an hour)";
      progress.show(what, now.done, now.total, now.seconds_left);
    };
    const CampaignReport report = run_measure(command_);
    progress.clear();
    json_ ? void(io.out << campaign_json(report) << '\n') : print(report, io);
    return report.partial == "interrupted" ? InterruptScope::exit_status() : 0;
  }

 private:
  /// --dry-run and --status are added to the command of a campaign, whatever it has.
  void refuse_ignored(const Io& io) const {
    if (command_.families.empty()) refuse_options(io, {"variations"}, "it is for --families");
    if (command_.design_file.empty() && command_.patterns.value_or(0) == 0)
      refuse_options(io, {"uncertainty"}, "it is for --patterns");
    if (command_.place.on == "local")
      refuse_options(io, {"worker-wait", "tls-ca-file", "tls-cert", "tls-key"},
                     "it is for other machines (--on)");
  }

  int list(const Design& design, Io& io) const {
    const CampaignPlan plan = plan_measure(command_, design);
    Json all = Json::array();
    for (const Configuration& each : plan.configurations) {
      const Subject& subject = plan.subjects[each.subject];
      if (json_)
        all.push_back({{"configuration", each.key},
                       {"name", subject.name},
                       {"family", subject.family},
                       {"backend", each.backend},
                       {"threads", each.threads},
                       {"flops", subject.work.flops},
                       {"bytes", subject.work.bytes}});
      else
        io.out << each.key << "  " << each.backend << "  " << each.threads << "  " << subject.name << '\n';
    }
    if (json_)
      io.out << Json{{"schema", 1},
                     {"design", design_json(design)},
                     {"subjects", plan.subjects.size()},
                     {"configurations", std::move(all)}}
                    .dump()
             << '\n';
    else
      io.out << plan.subjects.size() << " programs, " << plan.configurations.size() << " configurations\n";
    return 0;
  }

  int status(Io& io) const {
    const Store store = Store::open(command_.store_path(), Store::Mode::kRead);
    const CampaignStatus found = campaign_status(store, command_.campaign.name);
    if (json_) {
      io.out << campaign_json(found) << '\n';
      return 0;
    }
    io.out << "campaign " << found.name << " in " << command_.store_path() << ": " << found.configurations
           << " configurations, " << found.rows << " rows, " << found.failed << " failed\n";
    for (const auto& [kind, rows] : found.rows_of)
      io.out << formatted("  %-24s %8lld rows\n", kind.c_str(), static_cast<long long>(rows));
    return 0;
  }

  void print(const CampaignReport& report, Io& io) const {
    io.out << "campaign " << report.name << ": " << report.finished_before + report.measured + report.failed
           << " of " << report.configurations << " configurations";
    if (report.finished_before) io.out << ", " << report.finished_before << " of them before";
    if (report.retried) io.out << ", " << report.retried << " that had failed tried again";
    io.out << "; " << report.rows << " new rows in " << command_.store_path() << '\n';
    io.out << formatted("  %.0f configurations an hour: %.1f s building, %.1f s measuring, %.1f s waiting\n",
                        report.per_hour(), report.build_s, report.measure_s, report.wait_s);
    if (report.timed_rows)
      io.out << formatted(
          "  %.1f %% of %lld rows vary by no more than asked for; %d configurations were visited again\n",
          100.0 * static_cast<double>(report.steady_rows) / static_cast<double>(report.timed_rows),
          static_cast<long long>(report.timed_rows), report.revisited);
    for (const CampaignFailure& each : report.failures)
      io.out << "  failed: " << each.name << " on " << each.backend << ": "
             << each.why.substr(0, each.why.find('\n')) << '\n';
    for (const std::string& note : report.notes) io.out << "  " << note << '\n';
    if (!report.partial.empty())
      io.out << "  ended early (" << report.partial << "): the same command goes on from here\n";
  }

  MeasureCommand command_;
  bool dry_run_ = false, status_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Verb> measure_verb(std::string name, std::string doc) {
  return std::make_unique<MeasureVerb>(std::move(name), std::move(doc));
}

}  // namespace baton::cli
