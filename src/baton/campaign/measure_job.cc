#include "baton/campaign/measure_job.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>

#include "baton/pass/interrupt.h"
#include "baton/runtime/processor.h"
#include "baton/runtime/thread_pool.h"
#include "baton/runtime/thread_reading.h"
#include "baton/runtime/timers.h"
#include "baton/support/require.h"
#include "baton/target/device_sheet.h"

namespace baton {

namespace {

constexpr double kShortUs = 20, kLoopUs = 60, kMostCalls = 10000;
constexpr double kWindowS = 0.3, kShortestWindowS = 0.1;  // /proc/stat counts in steps of 10 ms
constexpr double kLeastS = 0.1;                           // of each kind of samples
constexpr size_t kMostKept = 64, kMostSamples = 20000;
constexpr double kWorthKnowing = 0.01;  // kernels below this share of the program do not prolong measuring

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

bool is_enough(const RoundSamples& samples, const Protocol& protocol) {
  const std::vector<double> kept = kept_of(samples);
  if (kept.size() < static_cast<size_t>(protocol.min_samples)) return false;
  return coefficient_of_variation(grouped(kept, group_of(kept, protocol))) <= protocol.cv;
}

double seconds_since(int64_t since) { return static_cast<double>(monotonic_ns() - since) / 1e9; }

/// Judges samples by what others did on the machine meanwhile, a third of a second at a time.
class Windows {
 public:
  explicit Windows(const SystemSource& system) : system_(system), before_(system()), begin_(monotonic_ns()) {}

  void track(RoundSamples& samples) { tracked_.push_back({&samples, 0}); }
  /// After each sample.
  void tick() {
    if (seconds_since(begin_) >= kWindowS) close();
  }
  /// No more samples: what is left belongs to the window before it when it is too short to be judged.
  void finish() {
    if (seconds_since(begin_) >= kShortestWindowS) return close();
    if (last_disturbed_) disturb();
  }
  double others() const { return sum_.others(); }

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
    last_disturbed_ = what.any();
    if (last_disturbed_) disturb();
    for (Tracked& each : tracked_) each.from = each.samples->us.size();
    before_ = now;
    begin_ = monotonic_ns();
  }

  const SystemSource& system_;
  SystemReading before_;
  int64_t begin_;
  Disturbance sum_;
  bool last_disturbed_ = false;
  std::vector<Tracked> tracked_;
};

/// Memory larger than all caches; whoever writes it finds nothing else in them afterwards.
class Eviction {
 public:
  explicit Eviction(int threads) : threads_(std::max(threads, 1)) {
    const DeviceSheet& host = DeviceSheet::host();
    const int64_t caches = (host.l1_bytes + host.l2_bytes) * host.cores + host.l3_bytes;
    bytes_ = static_cast<size_t>(std::clamp<int64_t>(2 * caches, int64_t{16} << 20, int64_t{512} << 20));
    memory_.reset(static_cast<uint8_t*>(std::calloc(bytes_, 1)));
    if (!memory_) throw Error("no memory to evict the caches with");
  }
  /// Each thread a part of it, for cores have caches of their own.
  void operator()() {
    ++value_;
    const ThreadScope scope(threads_);
    parallel_for(&Eviction::write, this, 0, threads_, nullptr);
  }

 private:
  static int write(void* user, int index, uint8_t*) {
    auto& self = *static_cast<Eviction*>(user);
    const size_t part = self.bytes_ / static_cast<size_t>(self.threads_);
    std::fill_n(self.memory_.get() + part * static_cast<size_t>(index), part, self.value_);
    return 0;
  }
  struct Free {
    void operator()(uint8_t* memory) const { std::free(memory); }
  };
  int threads_;
  size_t bytes_ = 0;
  uint8_t value_ = 0;
  std::unique_ptr<uint8_t[], Free> memory_;
};

class JobMeasurement {
 public:
  JobMeasurement(Executor& executor, const Protocol& protocol, const JobConditions& conditions)
      : executor_(executor), protocol_(protocol), conditions_(conditions), windows_(conditions.system) {
    double load[1] = {0};
    load_ = getloadavg(load, 1) == 1 ? load[0] : 0;
    const Plan& plan = executor.plan();
    for (uint32_t node = 0; node < plan.nodes.size(); ++node) simulated_ |= plan.is_simulated(node);
  }

  std::vector<JobRow> rows() {
    warm_up();
    if (!protocol_.alone) whole_program();
    if (protocol_.nodes || protocol_.alone) all_nodes();
    if (protocol_.alone) single_nodes();
    windows_.finish();
    std::vector<JobRow> rows;
    for (const std::unique_ptr<Pending>& pending : pending_) {
      if (pending->samples.us.empty()) continue;
      JobRow row = summed_up(pending->samples, protocol_, pending->calls);
      row.node = pending->node;
      row.cache = pending->cache;
      row.load = load_;
      row.others_busy = windows_.others();
      rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  struct Pending {
    std::string node;
    CacheState cache;
    RoundSamples samples;
    int calls = 1;
  };

  RoundSamples& pending(const std::string& node, CacheState cache, int calls = 1) {
    pending_.push_back(std::make_unique<Pending>(Pending{node, cache, {}, calls}));
    windows_.track(pending_.back()->samples);
    return pending_.back()->samples;
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

  /// Adds samples until they are enough. `prepare`: before each, not counted.
  void collect(RoundSamples& samples, const std::function<double()>& sample_us,
               const std::function<void()>& prepare = {}) {
    const bool several = executor_.threads() > 1;
    const int64_t begin = monotonic_ns();
    for (;;) {
      for (int i = 0; i < 8; ++i) {
        stop_if_asked(conditions_.interrupt);
        if (prepare) prepare();
        const ThreadReading before = read_thread(several);
        const double us = sample_us();
        // Threads of a device's driver take turns with ours: their switches are no sign of other programs.
        samples.add(us, !executor_.on_devices() && was_held(before, read_thread(several), several));
        windows_.tick();
      }
      const double seconds = seconds_since(begin);
      if (seconds >= protocol_.max_seconds || samples.us.size() >= kMostSamples) return;
      if (seconds >= kLeastS && is_enough(samples, protocol_)) return;
    }
  }

  static int calls_for(double us) {
    return us >= kShortUs ? 1 : static_cast<int>(std::clamp(kLoopUs / std::max(us, 1e-2), 2.0, kMostCalls));
  }

  void whole_program() {
    for (const CacheState cache : protocol_.caches) {
      if (cache == CacheState::kFlushed && !simulated_) {
        Eviction evict(executor_.threads());
        collect(pending("", cache), [&] { return run_us(); }, [&] { evict(); });
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
    std::vector<RoundSamples*> samples;
    const int64_t begin = monotonic_ns();
    for (size_t runs = 0;; ++runs) {
      stop_if_asked(conditions_.interrupt);
      const RunProfile profile = require(executor_.run_profiled(1));
      if (samples.empty()) {
        nodes_ = profile.nodes;
        // A kernel without others finds what it left itself.
        const CacheState cache = nodes_.size() == 1 ? CacheState::kHot : CacheState::kInModel;
        for (const uint32_t node : nodes_)
          samples.push_back(&pending(executor_.plan().nodes[node].name, cache));
      }
      for (size_t i = 0; i < nodes_.size(); ++i)
        samples[i]->add(profile.node_ns[i][0] / 1e3, profile.held[i][0]);
      windows_.tick();
      const double seconds = seconds_since(begin);
      if (seconds >= protocol_.max_seconds || runs >= kMostSamples) break;
      if (seconds < kLeastS || runs < static_cast<size_t>(protocol_.min_samples) || runs % 8) continue;
      double sum = 0;
      for (const RoundSamples* each : samples) sum += median(each->us);
      if (std::ranges::all_of(samples, [&](const RoundSamples* each) {
            return median(each->us) < kWorthKnowing * sum || is_enough(*each, protocol_);
          }))
        break;
    }
    for (size_t i = 0; i < nodes_.size(); ++i) node_us_.push_back(median(samples[i]->us));
  }

  /// Kernels of the processor that compute operators, again and again in the memory of the program.
  void single_nodes() {
    const Plan& plan = executor_.plan();
    std::vector<std::string> done;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const PlanNode& node = plan.nodes[nodes_[i]];
      const Executor::Call* call = executor_.node_call(nodes_[i]);
      const bool here = call && node.kind == PlanNode::Kind::kKernel && !plan.is_simulated(nodes_[i]) &&
                        plan.entries[node.first_entry].device_type == kProcessorKind;
      if (!here || (node.origins.empty() && nodes_.size() > 1) || std::ranges::count(done, node.func_name))
        continue;
      done.push_back(node.func_name);
      const ThreadScope scope(executor_.threads());
      const auto calls_us = [&](int calls) {
        const int64_t begin = monotonic_ns();
        for (int n = 0; n < calls; ++n)
          if (const int code = call->function(call->context, call->args))
            throw Error("kernel " + node.func_name + " failed with code " + std::to_string(code));
        return static_cast<double>(monotonic_ns() - begin) / 1e3 / calls;
      };
      for (const CacheState cache : protocol_.caches) {
        if (cache == CacheState::kHot) {
          if (nodes_.size() == 1) continue;  // measured in the program, which is nothing else
          const int calls = calls_for(node_us_[i]);
          calls_us(calls);
          collect(pending(node.name, cache, calls), [&] { return calls_us(calls); });
        } else if (cache == CacheState::kFlushed) {
          Eviction evict(executor_.threads());
          collect(pending(node.name, cache), [&] { return calls_us(1); }, [&] { evict(); });
        }
      }
    }
  }

  Executor& executor_;
  const Protocol& protocol_;
  const JobConditions& conditions_;
  Windows windows_;
  double load_ = 0;
  bool simulated_ = false;
  std::vector<std::unique_ptr<Pending>> pending_;
  std::vector<uint32_t> nodes_;
  std::vector<double> node_us_;
};

}  // namespace

JobRow summed_up(const RoundSamples& samples, const Protocol& protocol, int calls) {
  const std::vector<double> kept = kept_of(samples);
  const size_t group = kept.empty() ? 1 : group_of(kept, protocol);
  JobRow row;
  row.samples_us = grouped(kept, group);
  row.calls_per_sample = calls * static_cast<int>(group);
  for (size_t i = 0; i < samples.us.size() && row.disturbed.size() < kMostKept; ++i) {
    if (!samples.disturbed[i]) continue;
    row.disturbed.push_back(static_cast<uint32_t>(row.samples_us.size()));
    row.samples_us.push_back(samples.us[i]);
  }
  return row;
}

std::vector<JobRow> measure_job(Executor& executor, const Protocol& protocol,
                                const JobConditions& conditions) {
  return JobMeasurement(executor, protocol, conditions).rows();
}

}  // namespace baton
