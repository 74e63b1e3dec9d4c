#include "baton/tune/tune.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "baton/cli/common.h"
#include "baton/codegen/schedule_table.h"
#include "baton/profile/measure/measure.h"
#include "baton/profile/measure/significance.h"
#include "baton/profile/report/report_text.h"
#include "baton/profile/write/table_format.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/base/files.h"
#include "baton/support/json.h"
#include "baton/support/require.h"

namespace baton::cli {

namespace {

constexpr double kSlower = 1.01;   // of a whole model: what was found is not kept then
constexpr double kShipped = 0.96;  // of the default's time: what a table for other machines has to gain
constexpr int kRounds = 6;

class TuneVerb final : public Verb {
 public:
  using Verb::Verb;

  void flags(Flags& flags) override {
    flags_.add(flags);
    add_threads(flags, &threads_);
    flags
        .option("seconds", &seconds_,
                "time for the search, compiling included; a later call goes on where it ended")
        .show_default()
        .range(0.0, 1e6);
    flags.option(
        "export", &export_,
        "a table of tuned schedules (design note 0021): what is faster by 4 % or more is added to it");
    flags.flag("forget", &forget_, "drop what was found for this model's kernels, and search nothing");
    add_wait(flags, &wait_);
    flags.flag("json", &json_, "one JSON object on standard output");
  }

  int run(Io& io) override {
    const InterruptScope interrupt;
    ScheduleTable table;
    if (forget_) refuse_options(io, {"seconds", "export", "threads", "json"}, "--forget searches nothing");
    if (!export_.empty()) table = table_to_extend(flags_.context().host());
    flags_.config.set("baton.tuned", AttrValue(int64_t{0}));
    BuiltModel plain = build_model(flags_, io);
    TuneOptions options(flags_.context());
    options.context.interrupt = interrupt.flag();
    options.seconds = seconds_;
    const auto executor = executor_of(plain);
    options.threads = executor->threads();
    if (forget_) return forget(io, plain, options);
    Progress progress(io);
    options.progress = [&](const std::string& kernel, double done) {
      progress.show("tuning " + kernel, static_cast<int>(done * 100), 100, (1 - done) * seconds_);
    };
    wait_for_quiet(wait_, io);
    std::vector<TunedKernel> found = tune(plain.build, *executor, options);
    flags_.config.set("baton.tuned", AttrValue(int64_t{1}));
    Outcome outcome;
    if (!*interrupt.flag() && std::ranges::any_of(found, is_faster)) {
      progress.show("comparing both builds", 99, 100);
      outcome = compare(*executor, io);
      if (outcome.is_slower) {
        for (TunedKernel& each : found) drop(each, options.context);
        outcome.dropped = true;
      }
    }
    progress.clear();
    if (!export_.empty()) write_table(std::move(table), found);
    json_ ? print_json(io, found, outcome) : print(io, found, outcome);
    return *interrupt.flag() ? InterruptScope::exit_status() : 0;
  }

 private:
  struct Outcome {
    double default_us = 0, tuned_us = 0;  ///< of the whole model; 0: not measured
    bool is_slower = false;               ///< by more than the measurement's uncertainty
    bool dropped = false;
    std::string under_load = {};  ///< what ran beside both; empty: little
  };

  static bool is_faster(const TunedKernel& kernel) { return !kernel.after.schedule.template_name.empty(); }

  std::unique_ptr<Executor> executor_of(const BuiltModel& model) const {
    auto executor = make_executor(model.build);
    executor->set_threads(threads_);
    set_inputs(*executor, {});
    return executor;
  }

  static KernelCache& cache_of(const BuildContext& context) {
    return context.cache ? *context.cache : KernelCache::shared();
  }

  /// As if it had not been tuned: that the default is the fastest is not what was found.
  static void drop(TunedKernel& kernel, const BuildContext& context) {
    kernel.after.schedule = {};
    keep_tuned(kernel.function, context.host(), cache_of(context), {});
  }

  int forget(Io& io, const BuiltModel& model, const TuneOptions& options) const {
    int count = 0;
    for (const BuiltKernel& kernel : model.build.kernels) {
      KernelCache& cache = cache_of(options.context);
      if (!kept_tuned(kernel.function, options.context.host(), cache)) continue;
      keep_tuned(kernel.function, options.context.host(), cache, {});
      ++count;
    }
    io.out << "forgot what was tuned for " << count << " kernel" << (count == 1 ? "" : "s") << '\n';
    return 0;
  }

  /// Both builds in turn.
  Outcome compare(Executor& executor, Io& io) const {
    const BuiltModel tuned = build_model(flags_, io);
    const auto other = executor_of(tuned);
    MeasureOptions options;
    options.rounds = kRounds;
    options.min_seconds = 1;
    options.max_seconds = 20;
    const MeasuredModel models[] = {{&executor, {}}, {other.get(), {}}};
    const std::vector<FusedTimes> times = measure_in_turns(models, options);
    Outcome outcome{times[0].plain.us, times[1].plain.us};
    outcome.under_load =
        !times[0].plain.under_load.empty() ? times[0].plain.under_load : times[1].plain.under_load;
    const auto interval = rounds_difference(times[0].plain.rounds_us, times[1].plain.rounds_us, true).half;
    outcome.is_slower = interval && outcome.tuned_us - outcome.default_us >
                                        std::max(*interval, (kSlower - 1) * outcome.default_us);
    return outcome;
  }

  void print(Io& io, const std::vector<TunedKernel>& found, const Outcome& outcome) const {
    io.out << formatted("%-52s %10s %10s %7s %11s  %s\n", "kernel, the longest first", "default us",
                        "tuned us", "", "tried", "schedule");
    for (const TunedKernel& each : found) {
      const bool faster = is_faster(each);
      io.out << formatted("%-52s %10s %10s %6.2fx %5d of %-3d  %s\n", clipped(each.func_name, 52).c_str(),
                          us_text(each.after.default_us).c_str(),
                          us_text(faster ? each.after.us : each.after.default_us).c_str(),
                          faster ? each.after.us / each.after.default_us : 1.0, each.after.tried,
                          each.after.candidates,
                          faster ? schedule_text(each.after.schedule).c_str() : "the default");
    }
    if (found.empty()) io.out << "no kernel was looked at: give it more --seconds\n";
    if (outcome.default_us > 0)
      io.out << formatted("the model: %.1f us by default, %.1f us tuned, %.3fx, on %d thread%s\n",
                          outcome.default_us, outcome.tuned_us, outcome.tuned_us / outcome.default_us,
                          threads_shown(), threads_shown() == 1 ? "" : "s");
    else if (std::ranges::none_of(found, is_faster))
      io.out << "nothing faster than the default was found\n";
    if (!outcome.under_load.empty())
      io.out << "both were measured beside other programs (" << outcome.under_load
             << "): times are those of the least disturbed runs\n";
    const auto disturbed =
        std::ranges::find_if(found, [](const TunedKernel& each) { return !each.disturbed.empty(); });
    if (disturbed != found.end())
      io.out << std::ranges::count_if(found, [](const TunedKernel& each) { return !each.disturbed.empty(); })
             << " kernels have a schedule that may be faster, by less than other programs can feign ("
             << disturbed->disturbed << "): again, with --wait\n";
    if (outcome.dropped) io.out << "the whole model is slower with these: they are not used\n";
  }

  /// The table in the file, or an empty one.
  ScheduleTable table_to_extend(const DeviceSheet& sheet) const {
    const std::string family = processor_family(sheet);
    if (family.empty())
      throw Error("there are tables for processors with AVX2 or AVX-512 only: this one has neither");
    TemporaryFile probe;  // searching takes long
    if (const Status status = probe.create(export_); !status.ok()) throw Error("--export: " + status.message);
    if (std::error_code ignored; !std::filesystem::exists(export_, ignored)) return {family, {}};
    const Result<std::string> text = read_file(export_);
    if (!text.ok()) throw Error("--export: cannot read `" + export_ + "`: " + text.status().message);
    ScheduleTable table;
    try {
      table = ScheduleTable::from_text(*text);
    } catch (const Error& error) {
      throw Error("--export: `" + export_ + "` is no table of schedules: " + error.what());
    }
    if (table.family != family)
      throw UsageError("`" + export_ + "` is a table for " + table.family + ", and this processor's is for " +
                       family + ": name another file");
    return table;
  }

  /// What was found replaces what the table has for a layer.
  void write_table(ScheduleTable table, const std::vector<TunedKernel>& found) const {
    std::set<std::string> seen;
    for (const TunedKernel& each : found) {  // with several epilogues: the one that takes longest
      const std::string layer = scheduled_layer(*each.function);
      if (!is_faster(each) || layer.empty() || !seen.insert(layer).second) continue;
      if (each.after.us <= kShipped * each.after.default_us) table.entries[layer] = each.after;
    }
    const std::string text = table.text();
    if (const Status status = replace_file(export_, {text}); !status.ok())
      throw Error("cannot write `" + export_ + "`: " + status.message);
  }

  int threads_shown() const { return threads_ > 0 ? threads_ : default_threads(); }

  void print_json(Io& io, const std::vector<TunedKernel>& found, const Outcome& outcome) const {
    Json kernels = Json::array();
    for (const TunedKernel& each : found)
      kernels.push_back(
          {{"kernel", each.func_name},
           {"default", schedule_text(each.before)},
           {"tuned", is_faster(each) ? Json(schedule_text(each.after.schedule)) : Json(nullptr)},
           {"second", each.after.second},
           {"default_us", each.after.default_us},
           {"us", each.after.us},
           {"second_us", each.after.second_us},
           {"tried", each.after.tried},
           {"candidates", each.after.candidates},
           {"disturbed", each.disturbed.empty() ? Json(nullptr) : Json(each.disturbed)}});
    const auto or_null = [](double us) { return us > 0 ? Json(us) : Json(nullptr); };
    io.out << Json({{"kernels", kernels},
                    {"default_us", or_null(outcome.default_us)},
                    {"tuned_us", or_null(outcome.tuned_us)},
                    {"dropped", outcome.dropped}})
                  .dump()
           << '\n';
  }

  ModelFlags flags_;
  int threads_ = 0;
  double seconds_ = 60, wait_ = 0;
  std::string export_;
  bool forget_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Verb> tune_verb(std::string name, std::string doc) {
  return std::make_unique<TuneVerb>(std::move(name), std::move(doc));
}

}  // namespace baton::cli
