#include "baton/cli/common.h"
#include "baton/probe/run_probe.h"
#include "baton/profile/write/table_format.h"

namespace baton::cli {

namespace {

constexpr double kMuchSpoiled = 0.3;

class ProbeVerb final : public Verb {
 public:
  using Verb::Verb;

  void flags(Flags& flags) override {
    command_.add(flags);
    flags.flag("json", &json_, "one JSON object on standard output");
  }

  int run(Io& io) override {
    const InterruptScope interrupt;
    command_.interrupt = interrupt.flag();
    Progress progress(io);
    command_.progress = [&](const ProbeProgress& now) {
      progress.show(now.phase, now.done, now.total, now.seconds_left);
    };
    const ProbeReport report = run_probe(command_);
    progress.clear();
    json_ ? void(io.out << probe_json(report).dump() << '\n') : print(report, io);
    return report.partial == "interrupted" ? InterruptScope::exit_status() : 0;
  }

 private:
  static void print(const ProbeReport& report, Io& io) {
    io.out << report.device << '\n';
    if (const auto& peaks = report.sheet.peaks)
      io.out << formatted(
          "  one thread computes %.4g GFLOP/s and reads its caches at %.4g GB/s, the third level at %.4g, "
          "memory at %.4g\n",
          peaks->gflops, peaks->cache_gbytes_per_s, peaks->l3_gbytes_per_s, peaks->gbytes_per_s);
    if (!report.busy.empty())
      io.out << "  these rates were measured under load (" << report.busy
             << "): they are in the predictor, and are not kept for others\n";
    io.out << formatted("chosen: %d networks and %d kernels, which leave %.0f %% of the doubt (variance)\n",
                        report.networks, report.kernels, 100 * report.doubt_left);
    io.out << formatted(
        "measured: %d of these%s, %d failed; %lld times in %.0f s\n",
        report.measured + report.measured_before,
        report.measured_before ? formatted(", %d before", report.measured_before).c_str() : "", report.failed,
        static_cast<long long>(report.rows), report.measure_s);
    for (const auto& [why, count] : report.left_out)
      io.out << formatted("  left out: %lld, %s\n", static_cast<long long>(count), why.c_str());
    if (report.spoiled() > 0)
      io.out << formatted("  other programs spoiled %.0f %% of the times%s\n", 100 * report.spoiled(),
                          report.spoiled() > kMuchSpoiled
                              ? ": close them and call `baton probe --again`, the predictor gets better"
                              : "");
    if (report.partial == "time")
      io.out << "  the time was over before all was measured: the same command goes on from here\n";
    if (report.path.empty()) {
      io.out << "interrupted: the same command goes on from here\n";
      return;
    }
    io.out << formatted("carried over from %s with %lld kernels and %lld networks; of what was held out:\n",
                        report.card.carried_from.c_str(), static_cast<long long>(report.card.kernels),
                        static_cast<long long>(report.card.models));
    for (const auto& [of, errors] : report.card.held_out)
      io.out << formatted("  %lld %s: median error %.1f %%, %.0f %% within 10 %%\n",
                          static_cast<long long>(errors.count), of.c_str(), 100 * errors.median,
                          100 * errors.within_10);
    io.out << formatted("wrote %s in %.0f s; `baton predict` and `baton map` find it\n", report.path.c_str(),
                        report.seconds);
  }

  ProbeCommand command_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> probe_verb(std::string name, std::string doc) {
  return std::make_unique<ProbeVerb>(std::move(name), std::move(doc));
}

}  // namespace baton::cli
