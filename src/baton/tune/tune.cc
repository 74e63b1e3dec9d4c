#include "baton/tune/tune.h"

#include <algorithm>
#include <map>

#include "baton/ir/inspect.h"
#include "baton/runtime/system/timers.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/interrupt.h"
#include "baton/support/require.h"
#include "baton/tune/kernel_trial.h"

namespace baton {

namespace {

constexpr double kWorthTuning = 0.003;  // of the model
constexpr size_t kBatch = 8;            // schedules that are compiled and measured together
constexpr int kRounds = 7, kRoundsToConfirm = 25;
// A schedule that is faster beside other programs (which take half of a core's units) may be slower alone.
constexpr double kSecondsToConfirm = 0.3;  // a window of what the system counts
constexpr int kAttempts = 3;
constexpr int kProfiles = 5;
/// Beside other programs only what is faster by more than these can feign.
constexpr double kSurelyFaster = 0.95;
/// A schedule is kept if it takes at most this part of the default's time, on one thread.
constexpr double kFaster = 0.985;
/// And at most this part on several.
constexpr double kNotSlower = 1.01;

class Tuner {
 public:
  Tuner(const BuildResult& built, Executor& executor, const TuneOptions& options)
      : built_(built),
        executor_(executor),
        options_(options),
        cache_(options.context.cache ? *options.context.cache : KernelCache::shared()),
        sheet_(options.context.host()) {}

  std::vector<TunedKernel> run() {
    const int64_t begin = monotonic_ns();
    std::vector<Subject> subjects = subjects_by_time();
    double weights = 0;
    for (const Subject& each : subjects) weights += each.us;
    try {
      for (Subject& each : subjects) {
        // What one kernel does not need goes to those after it.
        const double left = options_.seconds - seconds_since(begin);
        if (left <= 0) break;
        const auto shown = [&] {
          if (options_.progress)
            options_.progress(each.kernel->func_name, std::min(1.0, seconds_since(begin) / options_.seconds));
        };
        one(each, left * each.us / weights, shown);
        weights -= each.us;
      }
    } catch (const Interrupted&) {  // kept so far: every batch
    }
    return std::move(tuned_);
  }

 private:
  /// Equal kernels, by their first node.
  struct Subject {
    const BuiltKernel* kernel = nullptr;
    uint32_t node = 0;
    double us = 0;
  };

  std::vector<Subject> subjects_by_time() {
    std::map<std::string, const BuiltKernel*> by_name;
    for (const BuiltKernel& kernel : built_.kernels)
      if (kernel.backend.empty() || kernel.backend == "llvm") by_name[kernel.func_name] = &kernel;
    std::map<KernelKey, Subject> subjects;
    double sum = 0;
    require(executor_.run());
    const RunProfile profile = require(executor_.run_profiled(kProfiles));
    for (size_t i = 0; i < profile.nodes.size(); ++i) {
      const PlanNode& node = built_.plan.graph->nodes[profile.nodes[i]];
      const double us = *std::ranges::min_element(profile.node_ns[i]) / 1e3;
      sum += us;
      const auto at = by_name.find(node.func_name);
      if (at == by_name.end() || !executor_.node_function(profile.nodes[i])) continue;
      Subject& subject = subjects[at->second->kernel->key];
      if (!subject.kernel) subject.kernel = at->second, subject.node = profile.nodes[i];
      subject.us += us;
    }
    std::vector<Subject> order;
    for (const auto& [key, subject] : subjects)
      if (subject.us >= kWorthTuning * sum) order.push_back(subject);
    std::ranges::sort(order, [](const Subject& a, const Subject& b) { return a.us > b.us; });
    return order;
  }

  template <class Shown>
  void one(const Subject& subject, double seconds, const Shown& shown) {
    const int64_t begin = monotonic_ns();
    const Function& function = subject.kernel->function;
    TunedKernel& made = tuned_.emplace_back();
    made.function = function;
    made.func_name = subject.kernel->func_name;
    made.model_us = subject.us;
    // The model may have been built with what was found before.
    const std::vector<Trial> first =
        compile_trials(function, std::vector<KernelSchedule>(1), options_.context);
    if (first.empty()) throw InternalError(__FILE__, __LINE__, "the default schedule does not compile");
    made.before = first[0].schedule;
    std::vector<KernelSchedule> others = other_schedules(function, made.before, sheet_);
    const ScheduleTable& table = shipped_table(processor_family(sheet_));
    if (const auto shipped = table_schedule(table, function, sheet_, cache_);
        shipped && shipped->unfit.empty()) {
      // First, since builds use it until something is tuned.
      const std::string text = schedule_text(shipped->tuned.schedule);
      const auto at = std::ranges::find(others, text, schedule_text);
      if (at != others.end()) std::rotate(others.begin(), at, at + 1);
    }
    made.after = kept_tuned(function, sheet_, cache_).value_or(TunedSchedule());
    TunedSchedule& kept = made.after;
    kept.candidates = static_cast<int>(others.size());
    require(executor_.run_range(0, subject.node + 1));
    const KernelTrial kernel(first[0].function, executor_.node_args(subject.node),
                             flat_types(function->ret_type()).size());
    for (auto at = static_cast<size_t>(kept.tried); at < others.size(); at += kBatch) {
      shown();
      options_.context.stop_if_asked();
      if (made.newly_tried > 0 && seconds_since(begin) >= seconds) break;
      const size_t count = std::min(kBatch, others.size() - at);
      if (!try_some(kernel, function, {others.data() + at, count}, kept)) {
        made.disturbed = disturbed_;
        break;
      }
      kept.tried = static_cast<int>(at + count);
      made.newly_tried += static_cast<int>(count);
      keep_tuned(function, sheet_, cache_, kept);
    }
    // Nothing to try, or nothing that computes the same.
    if (kept.default_us <= 0) kept.us = kept.default_us = measured(kernel, {}, {kRounds}).front().us;
  }

  /// The best so far and `schedules`, in turn; a new best is confirmed. False: it could not be.
  bool try_some(const KernelTrial& kernel, const Function& function,
                std::span<const KernelSchedule> schedules, TunedSchedule& kept) {
    std::vector<KernelSchedule> wanted(schedules.begin(), schedules.end());
    const bool has_best = !kept.schedule.template_name.empty();
    if (has_best) wanted.insert(wanted.begin(), kept.schedule);
    std::vector<Trial> trials = compile_trials(function, wanted, options_.context);
    std::erase_if(trials, [&](const Trial& trial) { return !kernel.agrees(trial); });
    if (trials.empty()) return true;
    std::vector<double> us;
    for (const Estimate& each : measured(kernel, trials, {kRounds})) us.push_back(each.us);
    std::vector<size_t> order(trials.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, [&](size_t a, size_t b) { return us[a + 1] < us[b + 1]; });
    const Trial& best = trials[order[0]];
    const size_t second = order.size() > 1 ? order[1] : order[0];
    const bool promising =
        us[order[0] + 1] <= kFaster * us[0] && schedule_text(best.schedule) != schedule_text(kept.schedule);
    const std::optional<Times> times = promising ? compared(kernel, best) : Times();
    if (!has_best) kept.us = kept.default_us = us[0];
    if (!times) return false;
    if (times->faster) {
      kept.schedule = best.schedule;
      kept.us = times->us, kept.default_us = times->default_us;
      kept.second = us[second + 1] < us[0] && second != order[0] ? schedule_text(trials[second].schedule)
                                                                 : "the default";
      kept.second_us = std::min(us[0], us[second + 1]);
    } else if (!has_best) {
      kept.us = kept.default_us = us[0];
      kept.second = schedule_text(best.schedule);
      kept.second_us = us[order[0] + 1];
    }
    return true;
  }

  /// A schedule and the default, on one thread.
  struct Times {
    bool faster = false;
    double us = 0, default_us = 0;
  };

  /// Nullopt: other programs ran all the time, and the difference is less than what they may feign.
  std::optional<Times> compared(const KernelTrial& kernel, const Trial& trial) {
    Times last;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      std::string load;
      const auto times_on = [&](int threads) {
        const auto us = measured(kernel, {&trial, 1}, {kRoundsToConfirm, kSecondsToConfirm, threads});
        for (const Estimate& each : us)
          if (!each.under_load.empty()) load = each.under_load;
        return Times{false, us[1].us, us[0].us};
      };
      last = times_on(1);
      last.faster = last.us <= kFaster * last.default_us;
      if (last.faster && options_.threads > 1) {
        const Times several = times_on(options_.threads);
        last.faster = several.us <= kNotSlower * several.default_us;
      }
      if (load.empty()) return last;
      disturbed_ = load;
      options_.context.stop_if_asked();
    }
    // The least disturbed calls of both, in turn.
    if (last.us > kFaster * last.default_us) return last;
    last.faster = last.faster && last.us <= kSurelyFaster * last.default_us;
    return last.faster ? std::optional(last) : std::nullopt;
  }

  std::vector<Estimate> measured(const KernelTrial& kernel, std::span<const Trial> trials,
                                 const KernelTrial::Length& length) const {
    return kernel.measure(trials, length, options_.system);
  }

  const BuildResult& built_;
  Executor& executor_;
  const TuneOptions& options_;
  KernelCache& cache_;
  const DeviceSheet& sheet_;
  std::string disturbed_;  // by what, the last time that it mattered
  std::vector<TunedKernel> tuned_;
};

}  // namespace

std::vector<TunedKernel> tune(const BuildResult& built, Executor& executor, const TuneOptions& options) {
  return Tuner(built, executor, options).run();
}

}  // namespace baton
