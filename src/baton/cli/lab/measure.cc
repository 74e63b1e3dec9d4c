#include <algorithm>
#include <sstream>

#include "baton/campaign/campaign.h"
#include "baton/campaign/programs.h"
#include "baton/cli/common.h"
#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/farm/job/signature.h"
#include "baton/profile/compare/offload.h"
#include "baton/profile/write/table_format.h"
#include "baton/support/base/files.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

namespace baton::cli {

namespace {

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream stream(list);
  for (std::string word; std::getline(stream, word, ',');)
    if (!word.empty() && std::ranges::find(words, word) == words.end()) words.push_back(word);
  return words;
}

class MeasureVerb final : public Verb {
 public:
  using Verb::Verb;

  void flags(Flags& flags) override {
    flags
        .positionals("MODEL", &models_, "workload names or .relay files, measured whole and kernel by kernel")
        .required(false);
    flags.option("design", &design_,
                 "a JSON file that says what to measure (docs/guide.md); flags override it");
    flags.option("families", &families_, "all, or resnet,vgg,...: random variations of these families");
    flags.option("variations", &variations_, "of each family").show_default().range(0, 100000);
    flags.option("patterns", &patterns_, "operators and fused functions, with sizes like those in models")
        .range(0, 1000000);
    flags.option("transfers", &transfers_,
                 "4096,1048576: copies of so many bytes to each other device and back");
    flags.option("backends", &backends_, "llvm,dnnl,opencl,sim_npu,...: each is measured (default: llvm)");
    flags.option("threads", &threads_, "1,2: each is measured (default: 1)");
    flags.option("opt-level", &opt_level_, "of the builds (default: 3)").range(0, 4);
    flags.option("cache", &caches_, "hot,flushed: what the caches hold before a run (default: hot)");
    flags.flag("inside", &inside_, "the parts of kernels, too");
    flags.option("uncertainty", &uncertainty_,
                 "a JSON file, {\"nn.conv2d\": 3, ...}: patterns with this operator are drawn more often");
    flags.option("store", &store_,
                 "the file that rows go to (default: $BATON_STORE, else in the user's cache)");
    flags.option("campaign", &campaign_, "its name: the same one goes on where it ended").show_default();
    flags.option("seed", &seed_, "of what is drawn, and of the order").range(0, 1e9);
    flags.option("max-hours", &max_hours_, "ends after so long; the same command goes on").range(0.0, 1e4);
    flags.option("on", &on_, "where to measure: local, ssh://HOST,..., dask://SCHEDULER:PORT, slurm")
        .show_default();
    flags.option("worker-wait", &place_.worker_wait_s, "longest wait for a machine of --on to come, seconds")
        .show_default()
        .range(0.0, 1e6);
    flags.option("runner", &place_.runner, "baton-runner on the machines of --on (default: in PATH there)");
    flags.option("key", &key_, "a secret key's file (`bundle keygen`): signs what is sent to machines");
    flags.option("tls-ca-file", &place_.tls_ca_file,
                 "--on over TLS, as options of `dask worker`: whom to trust");
    flags.option("tls-cert", &place_.tls_cert, "the certificate's file");
    flags.option("tls-key", &place_.tls_key, "its key's file");
    flags.option("wait", &wait_, "longest wait for other programs to leave the machine alone, seconds")
        .show_default()
        .range(0.0, 1e6);
    flags.flag("retry-failed", &retry_failed_, "try again what has failed before");
    flags.flag("dry-run", &dry_run_, "list what it would measure");
    flags.flag("status", &status_, "what the store has of this campaign; measures nothing");
    flags.flag("json", &json_, "one JSON object on standard output");
  }

  int run(Io& io) override {
    const std::string path = store_.empty() ? default_store_path() : store_;
    refuse_ignored(io);
    if (status_) return status(path, io);
    initialize();
    const Design design = read_design();
    check_design(design);
    const InterruptScope interrupt;
    CampaignOptions options;
    options.context = host_context();
    options.context.interrupt = interrupt.flag();
    add_simulated_devices(options.context, design.backends);
    for (const std::string& name : design.backends) compared_backend(name, options.context);
    if (dry_run_) return list(design, options.context, io);
    options.name = campaign_;
    options.wait_s = wait_;
    options.retry_failed = retry_failed_;
    if (max_hours_ > 0) options.max_seconds = max_hours_ * 3600;
    Progress progress(io);
    options.progress = [&](const CampaignProgress& now) {
      std::string what = now.phase;
      if (now.per_hour > 0) what += " (" + std::to_string(static_cast<int>(now.per_hour)) + " an hour)";
      progress.show(what, now.done, now.total, now.seconds_left);
    };
    FarmOptions place = place_;
    place.on = on_;
    place.wait_s = wait_;
    place.interrupt = interrupt.flag();
    if (!key_.empty()) place.secret_key = read_secret_key(key_);
    const CampaignWorker worker = campaign_worker(place);
    Store store = Store::open(path, Store::Mode::kWrite);
    const CampaignReport report = run_campaign(store, design, worker, options);
    progress.clear();
    json_ ? void(io.out << campaign_json(report) << '\n') : print(report, path, io);
    return report.partial == "interrupted" ? InterruptScope::exit_status() : 0;
  }

 private:
  static std::string text_of(const std::string& path) {
    Result<std::string> text = read_file(path);
    if (!text.ok()) throw Error(path + ": cannot be read: " + text.status().message);
    return std::move(*text);
  }

  /// --dry-run and --status are added to the command of a campaign, whatever it has.
  void refuse_ignored(const Io& io) const {
    if (families_.empty()) refuse_options(io, {"variations"}, "it is for --families");
    if (design_.empty() && patterns_ <= 0) refuse_options(io, {"uncertainty"}, "it is for --patterns");
    if (on_ == "local")
      refuse_options(io, {"worker-wait", "tls-ca-file", "tls-cert", "tls-key"},
                     "it is for other machines (--on)");
  }

  Design read_design() const {
    Design design;
    if (!design_.empty()) {
      const std::string text = text_of(design_);
      try {
        design = design_from_json(text);
      } catch (const UsageError& error) {
        throw UsageError("--design " + design_ + ": " + error.what());
      }
    }
    design.models.insert(design.models.end(), models_.begin(), models_.end());
    if (!families_.empty()) design.families = families_named(families_, variations_);
    if (patterns_ >= 0) design.patterns = patterns_;
    if (inside_) design.inside = true;
    if (seed_ >= 0) design.seed = static_cast<uint64_t>(seed_);
    if (!backends_.empty()) design.backends = words_of(backends_);
    if (!threads_.empty()) design.threads = numbers<int>("--threads", threads_);
    if (opt_level_ >= 0) design.opt_level = opt_level_;
    if (!transfers_.empty()) design.transfer_bytes = numbers<int64_t>("--transfers", transfers_);
    if (!caches_.empty()) {
      design.caches.clear();
      for (const std::string& name : words_of(caches_)) {
        const std::optional<CacheState> state = cache_state_named(name);
        if (!state || *state == CacheState::kInModel)
          throw UsageError("--cache: " + name + " is neither hot nor flushed");
        design.caches.push_back(*state);
      }
    }
    if (!uncertainty_.empty()) {
      const Json weights = Json::parse_or_discard(text_of(uncertainty_));
      try {
        design.uncertainty = weights.get<std::map<std::string, double>>();
      } catch (const JsonError&) {
        throw UsageError(uncertainty_ + ": is no JSON object of numbers by operator, {\"nn.conv2d\": 3}");
      }
    }
    return design;
  }

  template <class T>
  static std::vector<T> numbers(const char* flag, const std::string& list) {
    std::vector<T> numbers;
    for (const std::string& word : words_of(list)) {
      size_t end = 0;
      T value = 0;
      try {
        value = static_cast<T>(std::stoll(word, &end));
      } catch (const std::exception&) {
      }
      if (end != word.size()) throw UsageError(std::string(flag) + ": " + word + " is no number");
      numbers.push_back(value);
    }
    return numbers;
  }

  int list(const Design& design, const BuildContext& context, Io& io) const {
    const CampaignPlan plan = plan_campaign(design, context);
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

  int status(const std::string& path, Io& io) const {
    const Store store = Store::open(path, Store::Mode::kRead);
    const CampaignStatus found = campaign_status(store, campaign_);
    if (json_) {
      io.out << campaign_json(found) << '\n';
      return 0;
    }
    io.out << "campaign " << found.name << " in " << path << ": " << found.configurations
           << " configurations, " << found.rows << " rows, " << found.failed << " failed\n";
    for (const auto& [kind, rows] : found.rows_of)
      io.out << formatted("  %-24s %8lld rows\n", kind.c_str(), static_cast<long long>(rows));
    return 0;
  }

  static void print(const CampaignReport& report, const std::string& path, Io& io) {
    io.out << "campaign " << report.name << ": " << report.finished_before + report.measured + report.failed
           << " of " << report.configurations << " configurations";
    if (report.finished_before) io.out << ", " << report.finished_before << " of them before";
    if (report.retried) io.out << ", " << report.retried << " that had failed tried again";
    io.out << "; " << report.rows << " new rows in " << path << '\n';
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

  std::vector<std::string> models_;
  std::string design_, families_, backends_, threads_, caches_, transfers_, uncertainty_, store_;
  std::string campaign_ = "default", on_ = "local";
  int variations_ = 40, patterns_ = -1, seed_ = -1, opt_level_ = -1;
  FarmOptions place_;
  std::string key_;
  double wait_ = 60, max_hours_ = 0;
  bool inside_ = false, retry_failed_ = false, dry_run_ = false, status_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Verb> measure_verb(std::string name, std::string doc) {
  return std::make_unique<MeasureVerb>(std::move(name), std::move(doc));
}

}  // namespace baton::cli
