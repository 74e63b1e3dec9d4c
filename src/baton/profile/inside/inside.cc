#include "baton/profile/inside/inside.h"

#include <algorithm>
#include <numeric>

#include "baton/clock/windows.h"
#include "baton/profile/inside/inside_bench.h"
#include "baton/profile/inside/inside_rounds.h"
#include "baton/profile/inside/inside_variants.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/interrupt.h"
#include "baton/support/require.h"

namespace baton {

namespace {

// The first round also decides how kernels are split, which takes longer.
constexpr double kFirstRound = 2;
constexpr double kLeastCalls = 12;  // of each variant, in the first round

/// All kernels, round by round, each round in other memory.
class Rounds {
 public:
  Rounds(const BuildResult& built, Executor& executor, const InsideOptions& options)
      : executor_(executor), options_(options), windows_(options.system) {
    Budget::Pause compiling(options.budget);
    for (auto& kernel : make_variants(built, options.threads > 1, options.compile)) {
      const std::string& name = kernel->built->func_name;
      const auto equal = std::find_if(kernels_.begin(), kernels_.end(), [&](const Measured& other) {
        return other.kernel->built->kernel->key == kernel->built->kernel->key;
      });
      const auto weight = options.weights.find(name);
      const double us = weight == options.weights.end() ? 0 : weight->second;
      if (equal != kernels_.end()) {
        equal->names.push_back(name);
        equal->weight += us;
        continue;
      }
      Measured& made = kernels_.emplace_back();
      made.names = {name};
      made.weight = us;
      made.kernel = std::move(kernel);
      made.bench = std::make_unique<InsideBench>(*made.kernel, options);
    }
    // All together: they are linked into one library.
    std::vector<MeasuredKernel*> to_mark;
    for (const Measured& each : kernels_)
      if (each.bench->adopt_kept_plan()) to_mark.push_back(each.kernel.get());
    mark_again(to_mark, options.compile);
    // In execution order: every kernel finds the inputs of the model.
    std::sort(kernels_.begin(), kernels_.end(),
              [](const Measured& a, const Measured& b) { return a.kernel->node < b.kernel->node; });
  }

  std::map<std::string, InsideTimes> run() {
    for (Measured& each : kernels_) windows_.track(each.disturbed);
    try {
      for (int round = 0; round < std::max(1, options_.rounds); ++round) {
        std::shared_ptr<Executor> own = round > 0 && options_.another ? options_.another() : nullptr;
        windows_.resume();
        if (!one(own ? *own : executor_, round)) break;
        windows_.pause();
        if (options_.after_round && round + 1 < options_.rounds) options_.after_round();
      }
    } catch (const Interrupted&) {
      if (std::all_of(kernels_.begin(), kernels_.end(),
                      [](const Measured& each) { return each.rounds.empty(); }))
        throw;
    }
    windows_.finish();
    std::map<std::string, InsideTimes> result;
    for (const Measured& each : kernels_)
      if (!each.rounds.empty())
        for (const std::string& name : each.names)
          result[name] = combined(each.rounds, each.disturbed, windows_.sum().text());
    return result;
  }

 private:
  struct Measured {
    std::vector<std::string> names;  ///< of equal kernels, which share the measurement
    std::unique_ptr<MeasuredKernel> kernel;
    std::unique_ptr<InsideBench> bench;
    double weight = 0;  ///< microseconds in the model
    bool chosen = true;
    std::vector<InsideTimes> rounds;
    std::vector<bool> disturbed;
  };

  double left_s() const { return options_.budget ? options_.budget->left() : 1e9; }

  /// False: the budget is spent.
  bool one(Executor& executor, int round) {
    const int rounds = std::max(1, options_.rounds);
    const double parts = round == 0 ? (kFirstRound + rounds - 1) / kFirstRound : rounds - round;
    const double until_s = left_s() * (1 - 1 / parts);  // of the budget, for later rounds
    const auto left_of_round = [&] { return (left_s() - until_s) * 1e3; };
    double weights = 0;
    for (const Measured& each : kernels_) weights += each.weight;
    if (round == 0) choose(left_of_round());
    uint32_t next = 0;
    for (size_t i = 0; i < kernels_.size(); ++i) {
      Measured& each = kernels_[i];
      if (options_.progress) options_.progress(round * count() + static_cast<int>(i), rounds * count());
      const double left_ms = left_of_round();
      const double ms = budget_share(left_ms, each.weight, weights, 0, options_.ms_per_kernel / rounds);
      weights -= each.weight;
      if (!each.chosen) continue;
      if (left_ms <= 0) {
        if (round > 0) return false;
        continue;
      }
      require(executor.run_range(next, each.kernel->node + 1));
      next = each.kernel->node + 1;
      each.rounds.push_back(each.bench->round(executor.node_args(each.kernel->node), ms));
      each.disturbed.push_back(false);
      // Variants leave other values behind than the model's kernel.
      require(executor.run_range(each.kernel->node, next));
      windows_.tick();
    }
    if (options_.progress) options_.progress((round + 1) * count(), rounds * count());
    return true;
  }

  /// Long kernels first: those for which `left_ms` does not suffice are not measured.
  void choose(double left_ms) {
    std::vector<Measured*> order;
    for (Measured& each : kernels_) order.push_back(&each);
    std::stable_sort(order.begin(), order.end(),
                     [](const Measured* a, const Measured* b) { return a->weight > b->weight; });
    double cost_ms = 0;
    for (Measured* each : order) {
      cost_ms += each->weight / 1e3 * kLeastCalls * static_cast<double>(each->kernel->variants.size());
      each->chosen = cost_ms <= left_ms;
    }
  }

  int count() const { return static_cast<int>(kernels_.size()); }

  Executor& executor_;
  const InsideOptions& options_;
  std::vector<Measured> kernels_;
  DisturbanceWindows windows_;
};

}  // namespace

std::map<std::string, InsideTimes> measure_inside(const BuildResult& built, Executor& executor,
                                                  const InsideOptions& options) {
  const ThreadScope one_thread(1);
  return Rounds(built, executor, options).run();
}

}  // namespace baton
