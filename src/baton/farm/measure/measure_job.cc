#include "baton/farm/measure/measure_job.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <functional>
#include <optional>

#include "baton/clock/program_clock.h"
#include "baton/farm/measure/evict.h"
#include "baton/runtime/system/timers.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/require.h"
#include "baton/target/device_sheet.h"

namespace baton {

namespace {

constexpr double kShortKernelS = 0.02;  // of measuring one in a loop: a model has many of them
constexpr double kLeastS = 0.1;         // of each kind of samples
constexpr size_t kMostSamples = 20000, kFewestKept = 5;
constexpr double kAskAgain =
    1.1;  // so many times the samples, until it is asked again whether they are enough

class JobMeasurement {
 public:
  JobMeasurement(Executor& executor, const Protocol& protocol, const SampleConditions& conditions)
      : executor_(executor),
        protocol_(protocol),
        simulated_(is_simulated(executor.plan())),
        clock_(conditions),
        program_(clock_, executor) {
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
    clock_.windows().resume();
    warm_up();
    if (!protocol_.alone) whole_program();
    if (protocol_.nodes || protocol_.alone) {
      all_nodes();
      short_nodes();
    }
    if (protocol_.alone) single_nodes();
    clock_.windows().finish();
    // Single kernels wrote where later ones have put theirs: who asks for the outputs gets those of a whole
    // run.
    if (protocol_.nodes || protocol_.alone) require(executor_.run());
    const Disturbance& disturbed_by = clock_.windows().sum();
    MeasuredJob measured{{}, disturbed_by};
    for (const Pending& pending : pending_) {
      if (pending.samples.us.empty()) continue;
      JobRow row = summed_up(pending.samples, protocol_, pending.calls);
      row.node = pending.node;
      row.cache = pending.cache;
      row.load = load_;
      row.others_busy = disturbed_by.others();
      row.core_ns = core_ns_of({pending.samples});
      measured.rows.push_back(std::move(row));
    }
    if (clock_.taken() == 0) throw_clocks_disagree(static_cast<size_t>(clock_.clocks().refused()));
    if (measured.rows.empty())
      throw Error("there is no kernel to measure: the program only gives its operands other shapes");
    return measured;
  }

 private:
  struct Pending {
    std::string node;
    CacheState cache;
    int calls = 1;
    RoundSamples samples = {};
  };

  /// Simulated times are the same whatever others do.
  Pending& pending(const std::string& node, CacheState cache, int calls = 1) {
    Pending& made = pending_.emplace_back(Pending{node, cache, calls});
    if (!simulated_) clock_.windows().track(made.samples.disturbed);
    return made;
  }

  double warm_up() {
    const int64_t begin = monotonic_ns();
    std::optional<Sample> last;
    for (int i = 0; i < 2 || (seconds_since(begin) < protocol_.warm_up_s && i < 1000); ++i)
      last = program_.run();
    return last ? last->us : 0;
  }

  /// Samples on a slow core do not count: the job waits for its usual speed.
  static void add(RoundSamples& samples, const Sample& sample) {
    samples.add(sample);
    if (sample.slow) samples.disturbed.back() = true;
  }

  /// Takes samples until they are enough, or the time is over.
  void collect(double least_s, double most_s, const std::function<void()>& take,
               const std::function<bool()>& is_enough) {
    const int64_t begin = monotonic_ns();
    const double paused_before_s = clock_.paused_s();
    auto ask_at = static_cast<double>(protocol_.min_samples);
    for (size_t taken = 1; taken <= kMostSamples; ++taken) {
      take();
      clock_.windows().tick();
      const double seconds = seconds_since(begin) - (clock_.paused_s() - paused_before_s);
      if (seconds >= most_s) return;
      if (seconds < least_s || static_cast<double>(taken) < ask_at) continue;
      if (is_enough()) return;
      ask_at = static_cast<double>(taken) * kAskAgain;
    }
  }

  bool is_enough(const Pending& pending) const { return enough({pending.samples}, wanted_of(protocol_)); }

  void collect(Pending& pending, const std::function<std::optional<Sample>()>& take, double least_s = kLeastS,
               double most_s = std::numeric_limits<double>::infinity()) {
    const auto one = [&] {
      if (const std::optional<Sample> sample = take()) add(pending.samples, *sample);
    };
    collect(least_s, std::min(most_s, protocol_.max_seconds), one, [&] { return is_enough(pending); });
  }

  void whole_program() {
    for (const CacheState cache : protocol_.caches) {
      if (cache == CacheState::kFlushed && !simulated_) {
        collect(pending("", cache), [&] { return program_.run(1, [&] { evictor_->evict(); }); });
      } else if (cache == CacheState::kHot) {
        const int calls = simulated_ ? 1 : calls_per_sample(warm_up());
        collect(pending("", cache, calls), [&] { return program_.run(calls); });
      }
    }
  }

  /// Every kernel, as it runs in the program.
  void all_nodes() {
    const auto take = [&] {
      const std::optional<ProfiledSample> sample = program_.profiled_run();
      if (!sample) return;
      if (rows_.empty()) {
        nodes_ = sample->nodes;
        // A kernel without others finds what it left itself.
        const CacheState cache = nodes_.size() == 1 ? CacheState::kHot : CacheState::kInModel;
        for (const uint32_t node : nodes_)
          rows_.push_back(&pending(executor_.plan().nodes[node].name, cache));
      }
      for (size_t i = 0; i < nodes_.size(); ++i) add(rows_[i]->samples, sample->kernels[i]);
    };
    const auto all_enough = [&] {
      for (size_t i = 0; i < nodes_.size(); ++i)
        if (program_.loop_of(nodes_[i], rows_[i]->samples.us) == 1 && !is_enough(*rows_[i])) return false;
      return true;
    };
    collect(kLeastS, protocol_.max_seconds, take, all_enough);
    for (const Pending* each : rows_) node_us_.push_back(median(each->samples.us));
  }

  /// Kernels too short for one reading of the clock, in loops with warm caches: what was measured in the
  /// program is replaced.
  void short_nodes() {
    const ThreadScope scope(executor_.threads());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      Pending& pending = *rows_[i];
      const int calls = program_.loop_of(nodes_[i], pending.samples.us);
      if (calls == 1) continue;
      program_.compute_operands(nodes_[i]);
      pending.samples = {};
      clock_.windows().restart(pending.samples.disturbed);
      pending.cache = CacheState::kHot;
      pending.calls = calls;
      collect(pending, [&] { return program_.calls(nodes_[i], calls); }, 0, kShortKernelS);
    }
  }

  /// Kernels of the processor that compute operators, again and again in the memory of the program.
  void single_nodes() {
    std::vector<std::string> done;
    const ThreadScope scope(executor_.threads());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const uint32_t number = nodes_[i];
      const PlanNode& node = executor_.plan().nodes[number];
      if (!program_.call_here(number) || (node.origins.empty() && nodes_.size() > 1) ||
          std::ranges::count(done, node.func_name))
        continue;
      done.push_back(node.func_name);
      for (const CacheState cache : protocol_.caches) {
        if (cache == CacheState::kHot) {
          // Measured in the program, which is nothing else, or as one of its short kernels.
          if (nodes_.size() == 1 || rows_[i]->calls > 1) continue;
          const int calls = calls_per_sample(node_us_[i]);
          program_.call(number, calls);
          collect(pending(node.name, cache, calls), [&] { return program_.calls(number, calls); });
        } else if (cache == CacheState::kFlushed) {
          collect(pending(node.name, cache),
                  [&] { return program_.calls(number, 1, [&] { evictor_->evict(); }); });
        }
      }
    }
  }

  Executor& executor_;
  const Protocol& protocol_;
  const bool simulated_;
  SampleClock clock_;
  ExecutorClock program_;
  std::optional<Evictor> evictor_;
  double load_ = 0;
  std::deque<Pending> pending_;
  std::vector<uint32_t> nodes_;
  std::vector<double> node_us_;
  std::vector<Pending*> rows_;  // of pending_
};

}  // namespace

Wanted wanted_of(const Protocol& protocol) {
  return {static_cast<size_t>(std::max(protocol.min_samples, 0)), protocol.cv};
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
    const size_t count = std::min(kept.size(), kMostGroups);
    for (size_t i = 0; i < count; ++i)
      row.samples_us.push_back(kept[count > 1 ? i * (kept.size() - 1) / (count - 1) : 0]);
    row.calls_per_sample = calls;
    return row;
  }
  auto [medians, group] = grouped(kept, wanted_of(protocol));
  row.samples_us = std::move(medians);
  row.calls_per_sample = calls * static_cast<int>(group);
  for (size_t i = 0; i < samples.us.size() && row.disturbed.size() < kMostGroups; ++i) {
    if (!samples.disturbed[i]) continue;
    row.disturbed.push_back(static_cast<uint32_t>(row.samples_us.size()));
    row.samples_us.push_back(samples.us[i]);
  }
  return row;
}

MeasuredJob measure_job(Executor& executor, const Protocol& protocol, const SampleConditions& conditions) {
  return JobMeasurement(executor, protocol, conditions).run();
}

}  // namespace baton
