#include "baton/farm/measure/measure_job.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "baton/farm/measure/evict.h"
#include "baton/runtime/processor.h"
#include "baton/runtime/thread_pool.h"
#include "baton/runtime/thread_reading.h"
#include "baton/runtime/timers.h"
#include "baton/support/interrupt.h"
#include "baton/support/require.h"
#include "baton/target/device_sheet.h"

namespace baton {

namespace {

constexpr double kShortUs = 20, kLoopUs = 60, kMostCalls = 10000;
constexpr double kShortKernelS = 0.02;  // of measuring one in a loop: a model has many of them
constexpr double kWindowS = 0.3, kShortestWindowS = 0.1;  // /proc/stat counts in steps of 10 ms
constexpr double kLeastS = 0.1;                           // of each kind of samples
constexpr size_t kMostKept = 64, kMostSamples = 20000, kFewestKept = 5;
constexpr int64_t kPatienceNs = 20'000'000;
constexpr double kLookAgainS = 2e-3;  // whether the core runs at its usual speed
constexpr double kAskAgain = 1.1;  // so many times the runs, until it is asked again whether they are enough

std::vector<double> kept_of(const RoundSamples& samples) {
  std::vector<double> kept;
  for (size_t i = 0; i < samples.us.size(); ++i)
    if (!samples.disturbed[i]) kept.push_back(samples.us[i]);
  return kept;
}

std::vector<double> grouped(const std::vector<double>& kept, size_t group) {
  std::vector<double> medians;
  for (size_t i = 0; i + group <= kept.size(); i += group)
    medians.push_back(median({kept.begin() + static_cast<std::ptrdiff_t>(i),
                              kept.begin() + static_cast<std::ptrdiff_t>(i + group)}));
  return medians;
}

/// Larger groups where single ones vary too much.
size_t group_of(const std::vector<double>& kept, const Protocol& protocol) {
  const size_t least = static_cast<size_t>(std::max(protocol.min_samples, 1));
  const size_t group = std::max<size_t>(1, kept.size() / std::max(kMostKept, least));
  if (coefficient_of_variation(grouped(kept, group)) <= protocol.cv) return group;
  return std::max(group, kept.size() / least);
}

bool is_simulated(const Plan& plan) {
  for (uint32_t node = 0; node < plan.nodes.size(); ++node)
    if (plan.is_simulated(node)) return true;
  return false;
}

/// Judges samples by what others did on the machine meanwhile, a third of a second at a time. Simulated times
/// are the same whatever they did.
class Windows {
 public:
  Windows(const SystemSource& system, bool simulated)
      : system_(system), simulated_(simulated), before_(system()), begin_(monotonic_ns()) {}

  void track(RoundSamples& samples) { tracked_.push_back({&samples, 0}); }
  /// Without what `samples` has so far.
  void restart(RoundSamples& samples) {
    samples = {};
    for (Tracked& each : tracked_)
      if (each.samples == &samples) each.from = 0;
  }
  /// After each sample.
  void tick() {
    if (seconds_since(begin_) >= kWindowS) close();
  }
  /// No more samples: what is left belongs to the window before it when it is too short to be judged.
  void finish() {
    if (seconds_since(begin_) >= kShortestWindowS) return close();
    if (last_disturbed_) disturb();
  }
  const Disturbance& sum() const { return sum_; }
  bool last_disturbed() const { return last_disturbed_; }

  /// What happens from here to resume() does not count.
  void pause() { finish(); }
  void resume() {
    before_ = system_();
    begin_ = monotonic_ns();
  }

 private:
  struct Tracked {
    RoundSamples* samples;
    size_t from;
  };
  void disturb() {
    for (const Tracked& each : tracked_) each.samples->disturb_from(each.from);
  }
  void close() {
    const SystemReading now = system_();
    const Disturbance what = disturbance(before_, now);
    sum_ += what;
    last_disturbed_ = what.any() && !simulated_;
    if (last_disturbed_) disturb();
    for (Tracked& each : tracked_) each.from = each.samples->us.size();
    before_ = now;
    begin_ = monotonic_ns();
  }

  const SystemSource& system_;
  const bool simulated_;
  SystemReading before_;
  int64_t begin_;
  Disturbance sum_;
  bool last_disturbed_ = false;
  std::vector<Tracked> tracked_;
};

class JobMeasurement {
 public:
  JobMeasurement(Executor& executor, const Protocol& protocol, const JobConditions& conditions)
      : executor_(executor),
        protocol_(protocol),
        conditions_(conditions),
        simulated_(is_simulated(executor.plan())),
        windows_(conditions.system, simulated_) {
    double load[1] = {0};
    load_ = getloadavg(load, 1) == 1 ? load[0] : 0;
    if (std::ranges::count(protocol.caches, CacheState::kInModel))
      throw Error("a whole program cannot be measured as it runs in a model: ask for its nodes");
    if (!simulated_ && std::ranges::count(protocol.caches, CacheState::kFlushed)) {
      const DeviceSheet& host = DeviceSheet::host();
      evictor_.emplace(executor,
                       static_cast<size_t>(std::max({host.l1_bytes, host.l2_bytes, host.l3_bytes})));
    }
  }

  MeasuredJob run() {
    warm_up();
    if (!protocol_.alone) whole_program();
    if (protocol_.nodes || protocol_.alone) {
      all_nodes();
      short_nodes();
    }
    if (protocol_.alone) single_nodes();
    windows_.finish();
    // Single kernels wrote where later ones have put theirs: who asks for the outputs gets those of a whole
    // run.
    if (protocol_.nodes || protocol_.alone) require(executor_.run());
    MeasuredJob measured{{}, windows_.sum()};
    for (const std::unique_ptr<Pending>& pending : pending_) {
      if (pending->samples.us.empty()) continue;
      JobRow row = summed_up(pending->samples, protocol_, pending->calls);
      row.node = pending->node;
      row.cache = pending->cache;
      row.load = load_;
      row.others_busy = windows_.sum().others();
      row.core_ns = core_ns_of({pending->samples});
      measured.rows.push_back(std::move(row));
    }
    if (measured.rows.empty())
      throw Error("there is no kernel to measure: the program only gives its operands other shapes");
    return measured;
  }

 private:
  struct Pending {
    std::string node;
    CacheState cache;
    RoundSamples samples;
    int calls = 1;
  };

  Pending& pending(const std::string& node, CacheState cache, int calls = 1) {
    pending_.push_back(std::make_unique<Pending>(Pending{node, cache, {}, calls}));
    windows_.track(pending_.back()->samples);
    return *pending_.back();
  }

  double warm_up() {
    const int64_t begin = monotonic_ns();
    double us = 0;
    for (int i = 0; i < 2 || (seconds_since(begin) < protocol_.warm_up_s && i < 1000); ++i) us = run_us();
    return us;
  }

  /// The whole program; on simulated devices only a profiled run asks their clocks.
  double run_us() {
    stop_if_asked(conditions_.interrupt);
    if (simulated_) return require(executor_.run_profiled(1)).total_ns[0] / 1e3;
    const int64_t begin = monotonic_ns();
    require(executor_.run());
    return static_cast<double>(monotonic_ns() - begin) / 1e3;
  }

  /// Waits while the core is slower than usual. False when it remains so: the time for that is over.
  bool wait_for_core() {
    if (simulated_ || !conditions_.pace || !conditions_.pace->is_slow()) return true;
    if (paused_s_ >= conditions_.most_pause_s) return false;
    windows_.pause();
    const int64_t begin = monotonic_ns();
    bool slow = true;
    while (slow && paused_s_ + seconds_since(begin) < conditions_.most_pause_s) {
      stop_if_asked(conditions_.interrupt);
      std::this_thread::sleep_for(std::chrono::duration<double>(kLookAgainS));
      slow = conditions_.pace->is_slow() || conditions_.pace->is_slow();
    }
    paused_s_ += seconds_since(begin);
    windows_.resume();
    return !slow;
  }
  bool core_is_slow() const { return !simulated_ && conditions_.pace && conditions_.pace->is_slow(); }

  /// Beside other programs a sample on several threads begins when all have a processor.
  bool gathers() const {
    return executor_.threads() > 1 && !simulated_ && !executor_.on_devices() && windows_.last_disturbed();
  }

  /// Samples on a slow core do not count: the job waits for its usual speed. After core_is_slow().
  void add(RoundSamples& samples, double us, bool held, bool slow, double computed_us) const {
    const bool read = !simulated_ && conditions_.pace;
    samples.add(us, held, slow, computed_us, read ? conditions_.pace->last_ns() : 0);
    if (slow) samples.disturbed.back() = true;
  }

  struct Span {
    double least_s, most_s;
  };

  /// Adds samples until they are enough. `prepare`: before each, not counted.
  void collect(Pending& pending, const std::function<double()>& sample_us,
               const std::function<void()>& prepare = {}) {
    collect(pending, sample_us, prepare, {kLeastS, protocol_.max_seconds});
  }

  void collect(Pending& pending, const std::function<double()>& sample_us,
               const std::function<void()>& prepare, Span span) {
    RoundSamples& samples = pending.samples;
    const bool several = executor_.threads() > 1;
    const int64_t begin = monotonic_ns();
    const double paused_before_s = paused_s_;
    for (;;) {
      for (int i = 0; i < 8; ++i) {
        stop_if_asked(conditions_.interrupt);
        const double paused_s = paused_s_;
        const bool usual = wait_for_core();
        if (paused_s_ > paused_s) sample_us();  // what it has in the caches may be gone
        if (prepare) prepare();
        if (gathers()) gather_threads(kPatienceNs);
        const ThreadReading before = read_thread(several);
        const double us = sample_us();
        // Threads of a device's driver take turns with ours: their switches are no sign of other programs.
        const ThreadReading after = read_thread(several);
        const bool held = !executor_.on_devices() && was_held(before, after, several);
        const double whole_us = static_cast<double>(after.wall_ns - before.wall_ns) / 1e3;
        // A sample is of one call of several.
        const double computed =
            held && whole_us > 0 ? us * computed_ns(before, after, executor_.threads()) / 1e3 / whole_us : 0;
        const bool slow = !usual || core_is_slow();
        add(samples, us, held, slow, computed);
        windows_.tick();
      }
      const double seconds = seconds_since(begin) - (paused_s_ - paused_before_s);
      if (seconds >= span.most_s || samples.us.size() >= kMostSamples) return;
      if (seconds >= span.least_s && is_enough(samples, protocol_)) return;
    }
  }

  static int calls_for(double us) {
    return us >= kShortUs ? 1 : static_cast<int>(std::clamp(kLoopUs / std::max(us, 1e-2), 2.0, kMostCalls));
  }

  void whole_program() {
    for (const CacheState cache : protocol_.caches) {
      if (cache == CacheState::kFlushed && !simulated_) {
        collect(pending("", cache), [&] { return run_us(); }, [&] { evictor_->evict(); });
      } else if (cache == CacheState::kHot) {
        const int calls = simulated_ ? 1 : calls_for(warm_up());
        collect(pending("", cache, calls), [&] {
          if (calls == 1) return run_us();
          const int64_t begin = monotonic_ns();
          for (int i = 0; i < calls; ++i) require(executor_.run());
          return static_cast<double>(monotonic_ns() - begin) / 1e3 / calls;
        });
      }
    }
  }

  /// Every kernel, as it runs in the program.
  void all_nodes() {
    const int64_t begin = monotonic_ns();
    const double paused_before_s = paused_s_;
    auto asked_at = static_cast<double>(protocol_.min_samples);
    for (size_t runs = 1;; ++runs) {
      stop_if_asked(conditions_.interrupt);
      const double paused_s = paused_s_;
      const bool usual = wait_for_core();
      if (paused_s_ > paused_s) run_us();
      const RunProfile profile = require(executor_.run_profiled(1, gathers()));
      const bool slow = !usual || core_is_slow();
      if (node_rows_.empty()) {
        nodes_ = profile.nodes;
        // A kernel without others finds what it left itself.
        const CacheState cache = nodes_.size() == 1 ? CacheState::kHot : CacheState::kInModel;
        for (const uint32_t node : nodes_)
          node_rows_.push_back(&pending(executor_.plan().nodes[node].name, cache));
      }
      for (size_t i = 0; i < nodes_.size(); ++i)
        add(node_rows_[i]->samples, profile.node_ns[i][0] / 1e3, profile.held[i][0], slow,
            profile.computed_ns[i][0] / 1e3);
      windows_.tick();
      const double seconds = seconds_since(begin) - (paused_s_ - paused_before_s);
      if (seconds >= protocol_.max_seconds || runs >= kMostSamples) break;
      if (seconds < kLeastS || static_cast<double>(runs) < asked_at) continue;
      asked_at = static_cast<double>(runs) * kAskAgain;
      bool enough = true;
      for (size_t i = 0; i < nodes_.size() && enough; ++i) {
        const RoundSamples& samples = node_rows_[i]->samples;
        enough =
            (median(samples.us) < kLeastTimedUs && call_here(nodes_[i])) || is_enough(samples, protocol_);
      }
      if (enough) break;
    }
    for (const Pending* each : node_rows_) node_us_.push_back(median(each->samples.us));
  }

  /// The processor's kernels that are one function, each an uninterrupted call.
  const Executor::Call* call_here(uint32_t number) const {
    const Plan& plan = executor_.plan();
    const PlanNode& node = plan.nodes[number];
    const Executor::Call* call = executor_.node_call(number);
    const bool here = call && node.kind == PlanNode::Kind::kKernel && !plan.is_simulated(number) &&
                      plan.entries[node.first_entry].device_type == kProcessorKind;
    return here ? call : nullptr;
  }

  /// Microseconds of one of so many calls in a row.
  double calls_us(const Executor::Call& call, uint32_t node, int calls) const {
    const int64_t begin = monotonic_ns();
    for (int n = 0; n < calls; ++n)
      if (const int code = call.function(call.context, call.args)) require(executor_.node_failed(node, code));
    return static_cast<double>(monotonic_ns() - begin) / 1e3 / calls;
  }

  /// Kernels too short for one reading of the clock, as the program calls them, in loops with warm caches:
  /// what was measured in the program is replaced.
  void short_nodes() {
    uint32_t next = 0;
    const ThreadScope scope(executor_.threads());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const Executor::Call* call = call_here(nodes_[i]);
      if (!call || node_us_[i] >= kLeastTimedUs) continue;
      // Its inputs are those of the program: their storage may have been reused since.
      require(executor_.run_range(next, nodes_[i] + 1));
      next = nodes_[i] + 1;
      Pending& pending = *node_rows_[i];
      windows_.restart(pending.samples);
      pending.cache = CacheState::kHot;
      pending.calls = calls_for(node_us_[i]);
      collect(pending, [&] { return calls_us(*call, nodes_[i], pending.calls); }, {}, {0, kShortKernelS});
    }
  }

  /// Kernels of the processor that compute operators, again and again in the memory of the program.
  void single_nodes() {
    const Plan& plan = executor_.plan();
    std::vector<std::string> done;
    const ThreadScope scope(executor_.threads());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const PlanNode& node = plan.nodes[nodes_[i]];
      const Executor::Call* call = call_here(nodes_[i]);
      if (!call || (node.origins.empty() && nodes_.size() > 1) || std::ranges::count(done, node.func_name))
        continue;
      done.push_back(node.func_name);
      for (const CacheState cache : protocol_.caches) {
        if (cache == CacheState::kHot) {
          // Measured in the program, which is nothing else, or as one of its short kernels.
          if (nodes_.size() == 1 || node_us_[i] < kLeastTimedUs) continue;
          const int calls = calls_for(node_us_[i]);
          calls_us(*call, nodes_[i], calls);
          collect(pending(node.name, cache, calls), [&] { return calls_us(*call, nodes_[i], calls); });
        } else if (cache == CacheState::kFlushed) {
          collect(
              pending(node.name, cache), [&] { return calls_us(*call, nodes_[i], 1); },
              [&] { evictor_->evict(); });
        }
      }
    }
  }

  Executor& executor_;
  const Protocol& protocol_;
  const JobConditions& conditions_;
  const bool simulated_;
  Windows windows_;
  std::optional<Evictor> evictor_;
  double load_ = 0;
  double paused_s_ = 0;
  std::vector<std::unique_ptr<Pending>> pending_;
  std::vector<uint32_t> nodes_;
  std::vector<double> node_us_;
  std::vector<Pending*> node_rows_;  // of pending_
};

}  // namespace

bool is_enough(const RoundSamples& samples, const Protocol& protocol) {
  const std::vector<double> kept = kept_of(samples);
  if (kept.size() < static_cast<size_t>(protocol.min_samples)) return false;
  return coefficient_of_variation(grouped(kept, group_of(kept, protocol))) <= protocol.cv;
}

JobRow summed_up(const RoundSamples& samples, const Protocol& protocol, int calls) {
  std::vector<double> kept = kept_of(samples);
  JobRow row;
  row.under_load = kept.size() < kFewestKept;
  if (row.under_load) {
    LeastDisturbed least = least_disturbed({samples});
    row.interrupted = least.interrupted;
    kept = std::move(least.rounds.front());
    // The least disturbed ones are not summed up with the others: as many as fit, evenly from the shortest
    // on.
    std::ranges::sort(kept);
    const size_t count = std::min(kept.size(), kMostKept);
    for (size_t i = 0; i < count; ++i)
      row.samples_us.push_back(kept[count > 1 ? i * (kept.size() - 1) / (count - 1) : 0]);
    row.calls_per_sample = calls;
    return row;
  }
  const size_t group = group_of(kept, protocol);
  row.samples_us = grouped(kept, group);
  row.calls_per_sample = calls * static_cast<int>(group);
  for (size_t i = 0; i < samples.us.size() && row.disturbed.size() < kMostKept; ++i) {
    if (!samples.disturbed[i]) continue;
    row.disturbed.push_back(static_cast<uint32_t>(row.samples_us.size()));
    row.samples_us.push_back(samples.us[i]);
  }
  return row;
}

MeasuredJob measure_job(Executor& executor, const Protocol& protocol, const JobConditions& conditions) {
  return JobMeasurement(executor, protocol, conditions).run();
}

}  // namespace baton
