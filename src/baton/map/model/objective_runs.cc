#include "baton/map/model/objective_runs.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "baton/clock/energy_counter.h"
#include "baton/driver/build.h"
#include "baton/driver/cut/cut_values.h"
#include "baton/runtime/queue_executor.h"
#include "baton/runtime/system/timers.h"
#include "baton/support/require.h"

namespace baton {

namespace {

// A stream is timed for at least so long: otherwise a reading of the clock would count.
constexpr double kTimedUs = 2000, kMostInputs = 1000;
// Counters of energy are updated about once in a millisecond.
constexpr double kMeteredUs = 1e5;

double us_since(int64_t begin) { return static_cast<double>(monotonic_ns() - begin) / 1e3; }

class QueueRuns {
 public:
  QueueRuns(std::unique_ptr<QueueExecutor> executor, int threads, bool stream)
      : stream_(stream), executor_(std::move(executor)) {
    executor_->set_threads(threads);
    while (Executor* next = executor_->next()) {
      set_model_inputs(*next, {});
      require(executor_->start());
    }
    while (executor_->on_the_way()) require(executor_->finish());
    const int64_t begin = monotonic_ns();
    require(executor_->run());
    const double least = static_cast<double>(executor_->instances());
    timed_ = static_cast<int>(std::max(least, std::min(kTimedUs / us_since(begin), kMostInputs)));
  }

  double operator()() { return stream_ ? per_input() : latency(); }

 private:
  /// The run before it brings constants and memory into the cache, as in the usual runs.
  double latency() {
    require(executor_->run());
    const int64_t begin = monotonic_ns();
    require(executor_->run());
    return us_since(begin);
  }

  double per_input() {
    while (executor_->next()) require(executor_->start());
    next_inputs(static_cast<int>(executor_->instances()));  // until the queues are in step
    const int64_t begin = monotonic_ns();
    next_inputs(timed_);
    const double us = us_since(begin) / timed_;
    while (executor_->on_the_way()) require(executor_->finish());
    return us;
  }

  void next_inputs(int count) {
    for (int i = 0; i < count; ++i) {
      require(executor_->finish());
      require(executor_->start());
    }
  }

  const bool stream_;
  std::unique_ptr<QueueExecutor> executor_;
  int timed_ = 1;  // inputs of a stream
};

}  // namespace

std::function<TimedRun()> queue_runs(const BuildResult& built, const Executor& like, MapObjective objective,
                                     bool fresh) {
  return [&built, &like, objective, fresh]() -> TimedRun {
    const bool stream = objective == MapObjective::kThroughput;
    auto executor = QueueExecutor::create(built.plan.graph, fresh ? load_modules(built) : like.modules(),
                                          built.params(), stream ? 0 : 1);
    if (executor.status().code == StatusCode::kOutOfMemory) return nullptr;
    const auto runs = std::make_shared<QueueRuns>(require(std::move(executor)), like.threads(), stream);
    return [runs] { return (*runs)(); };
  };
}

std::function<TimedRun()> energy_runs(Executor& executor) {
  return [&executor]() -> TimedRun {
    return [&executor, counter = std::make_shared<EnergyCounter>()] {
      const double before_uj = counter->read_uj();
      const int64_t begin = monotonic_ns();
      int runs = 0;
      for (; runs == 0 || us_since(begin) < kMeteredUs; ++runs) require(executor.run());
      return (counter->read_uj() - before_uj) / runs;
    };
  };
}

}  // namespace baton
