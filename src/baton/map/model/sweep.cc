#include "baton/map/model/sweep.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "baton/codegen/backend.h"
#include "baton/map/frontier.h"
#include "baton/map/machine_changes.h"
#include "baton/map/milp.h"
#include "baton/map/objective.h"
#include "baton/support/diagnostic.h"
#include "baton/support/error.h"
#include "baton/support/interrupt.h"

namespace baton {

namespace {

constexpr double kExactSeconds = 1;  // of CBC for a point with limits of memory
constexpr double kMostDevices = 16;
constexpr SweepOf kSweeps[] = {SweepOf::kLink, SweepOf::kDevices, SweepOf::kMemory, SweepOf::kCompute};

std::string example_of(SweepOf of) {
  switch (of) {
    case SweepOf::kLink:
      return "link=0.1:100, the factors of the links' speed";
    case SweepOf::kDevices:
      return "devices=1:4, how many there are of each device; whole numbers up to 16";
    case SweepOf::kMemory:
      return "memory=0.1:10, the factors of the devices' memory";
    case SweepOf::kCompute:
      return "compute=0.1:10, the factors of the devices' speed";
  }
  return "";
}

bool limits_memory(const MappingProblem& problem) {
  return std::ranges::any_of(problem.memory_limits, [](double limit) { return limit > 0; });
}

/// The machine at one point, in one way to use it.
struct Machine {
  MappingProblem problem;
  std::vector<int> original;  ///< by candidate; empty: as numbered at first
  int streams = 1;            ///< devices of each kind that take inputs in turn

  int original_of(int candidate) const {
    return original.empty() ? candidate : original[static_cast<size_t>(candidate)];
  }
};

class Sweeper {
 public:
  Sweeper(const MapResult& result, const SweepRange& range, const SweepOptions& options)
      : result_(result), range_(range), options_(options), objective_(result.report.objective) {}

  MapSweep run() {
    MapSweep sweep{.of = range_.of};
    sweep.base_us = best_single({result_.priced.problem, {}}, 1).first;
    try {
      for (const double factor : factors()) {
        if (options_.progress)
          options_.progress(static_cast<int>(machines_.size()), static_cast<int>(factors().size()));
        machines_.push_back(machines_at(factor));
        best_.push_back(searched(machines_.back()));
        sweep.points.push_back({.factor = factor});
      }
    } catch (const Interrupted&) {
      sweep.partial = "interrupted";
    }
    try_others(sweep.points.size());
    for (size_t i = 0; i < sweep.points.size(); ++i) describe(sweep.points[i], i);
    std::erase_if(sweep.points, [](const SweepPoint& point) { return point.best_us <= 0; });
    if (sweep.points.empty() && sweep.partial.empty())
      throw Error("--sweep " + sweep_name(range_.of) + ": no mapping keeps the limits of memory");
    sweep.note = note();
    return sweep;
  }

 private:
  struct Found {
    size_t machine = 0;
    MappingSolution solution;
  };

  std::vector<double> factors() const {
    std::vector<double> all;
    if (range_.of == SweepOf::kDevices)
      for (double count = range_.least; count <= range_.most; ++count) all.push_back(count);
    else if (range_.most <= range_.least)
      all.push_back(range_.least);
    else
      for (int i = 0; i < options_.points; ++i)
        all.push_back(range_.least *
                      std::pow(range_.most / range_.least, i / std::max(1.0, options_.points - 1.0)));
    return all;
  }

  std::vector<Machine> machines_at(double factor) const {
    const MappingProblem& problem = result_.priced.problem;
    switch (range_.of) {
      case SweepOf::kLink:
        return {{with_links(problem, factor), {}}};
      case SweepOf::kMemory:
        return {{with_memory(problem, factor), {}}};
      case SweepOf::kCompute:
        return {{with_compute(problem, factor), {}}};
      case SweepOf::kDevices:
        break;
    }
    const int count = static_cast<int>(factor);
    // One after the other, several devices are as good as one, if it has the memory.
    if (objective_ == MapObjective::kSerial && !limits_memory(problem)) return {{problem, {}}};
    MultipliedProblem many = with_devices(problem, count);
    std::vector<Machine> machines{{std::move(many.problem), std::move(many.original)}};
    if (objective_ == MapObjective::kThroughput) machines.push_back({in_turns(problem, count), {}, count});
    return machines;
  }

  double us_of(const Machine& machine, const MappingSolution& solution) const {
    return objective_us(machine.problem, solution, objective_);
  }

  std::optional<MappingSolution> searched(const MappingProblem& problem) const {
    auto best = search_frontier(problem, {.interrupt = options_.interrupt});
    const bool memory_counts = range_.of == SweepOf::kMemory || range_.of == SweepOf::kDevices;
    if (memory_counts && limits_memory(problem) && (!best || best->gap() > 1e-3)) {
      // Along the graph limits are kept, but not exactly.
      const MilpResult exact = solve_milp(problem, {.seconds = kExactSeconds, .start = best});
      if (exact.solution && (!best || exact.solution->us < best->us)) best = exact.solution;
    }
    if (best) best = search_objective(problem, *best, objective_, options_.seconds, options_.interrupt);
    return best;
  }

  std::optional<Found> searched(const std::vector<Machine>& machines) const {
    std::optional<Found> best;
    for (size_t m = 0; m < machines.size(); ++m)
      if (auto found = searched(machines[m].problem))
        if (!best || found->us < best->solution.us) best = Found{m, std::move(*found)};
    return best;
  }

  /// What is best at one point, or was built, may be better than what was found at another.
  void try_others(size_t count) {
    for (size_t i = 0; i < count; ++i)
      for (size_t m = 0; m < machines_[i].size(); ++m)
        for (const std::vector<int>& known : result_.known) try_one(i, m, known);
    const std::vector<std::optional<Found>> found(best_.begin(),
                                                  best_.begin() + static_cast<ptrdiff_t>(count));
    for (size_t i = 0; i < count; ++i)
      for (size_t j = 0; j < count; ++j) {
        // Candidates of more devices than there are do not exist.
        if (!found[j] || i == j || (range_.of == SweepOf::kDevices && j > i)) continue;
        try_one(i, found[j]->machine, found[j]->solution.chosen);
      }
  }

  void try_one(size_t point, size_t machine, const std::vector<int>& chosen) {
    auto other = price(machines_[point][machine].problem, chosen);
    if (!other) return;
    other->us = us_of(machines_[point][machine], *other);
    if (!best_[point] || other->us < best_[point]->solution.us * (1 - 1e-9))
      best_[point] = Found{machine, std::move(*other)};
  }

  void describe(SweepPoint& point, size_t at) const {
    for (const Machine& machine : machines_[at]) {
      const auto [us, name] = best_single(machine, range_.of == SweepOf::kDevices ? point.factor : 1);
      if (us <= 0 || (point.best_single_us > 0 && us >= point.best_single_us)) continue;
      point.best_single_us = us;
      point.best_single = name;
    }
    if (!best_[at]) return;
    const Machine& machine = machines_[at][best_[at]->machine];
    const MappingSolution& best = best_[at]->solution;
    point.best_us = best.us;
    point.backend_us.resize(result_.report.backends.size());
    std::vector<int> chosen;
    for (const int c : best.chosen) {
      const MappingCandidate& candidate = machine.problem.candidates[static_cast<size_t>(c)];
      point.moved += candidate.device > 0;
      chosen.push_back(machine.original_of(c));
      const double us = candidate.us * (candidate.device > 0 ? machine.streams : 1);
      point.backend_us[result_.priced.candidates[static_cast<size_t>(chosen.back())].backend] += us;
    }
    point.backend_of = result_.priced.backend_of(chosen, result_.origins.operators.size());
    point.transfers = transfers_of(machine.problem, best.steps);
    point.transfers.us *= machine.streams;
  }

  /// The time and the name of the fastest backend alone; 0: none keeps the limits.
  std::pair<double, std::string> best_single(const Machine& machine, double devices) const {
    std::pair<double, std::string> best(0, "");
    for (size_t b = 0; b < result_.singles.size(); ++b) {
      const double us = single_us(machine, b, devices);
      if (us > 0 && (best.first <= 0 || us < best.first)) best = {us, result_.report.backends[b]};
    }
    return best;
  }

  double single_us(const Machine& machine, size_t backend, double devices) const {
    const std::vector<int>& single = result_.singles[backend];
    if (single.empty()) return restricted_us(machine, backend);
    const auto cost = price(machine.problem, single);
    if (!cost) return 0;
    if (machine.original.empty() || devices <= 1) return us_of(machine, *cost);
    // With several of its kind the backend may share its work among them.
    MappingProblem alone = machine.problem;
    std::vector<int> kept;  // of `alone`: number in machine.problem
    alone.candidates.clear();
    for (size_t c = 0; c < machine.problem.candidates.size(); ++c)
      if (std::ranges::count(single, machine.original[c])) {
        kept.push_back(static_cast<int>(c));
        alone.candidates.push_back(machine.problem.candidates[c]);
      }
    std::vector<int> first;
    for (const int c : single) first.push_back(static_cast<int>(std::ranges::find(kept, c) - kept.begin()));
    const auto start = price(alone, first);
    if (!start) return us_of(machine, *cost);
    try {
      return search_objective(alone, *start, objective_, options_.seconds, options_.interrupt).us;
    } catch (const Interrupted&) {
      return us_of(machine, *cost);
    }
  }

  /// The time of a backend whose whole was never built, because its device has no room: all operators that it
  /// has a price for on it, the rest on the processor.
  double restricted_us(const Machine& machine, size_t backend) const {
    const ModelProblem& priced = result_.priced;
    const auto of_backend = [&](size_t c) {
      return priced.candidates[static_cast<size_t>(machine.original_of(static_cast<int>(c)))].backend;
    };
    std::vector<bool> takes(static_cast<size_t>(priced.problem.nodes));
    MappingProblem alone = machine.problem;
    for (size_t c = 0; c < alone.candidates.size(); ++c)
      if (of_backend(c) == backend)
        for (const int node : alone.candidates[c].nodes) takes[static_cast<size_t>(node)] = true;
    std::vector<bool> covered(takes.size());
    std::vector<MappingCandidate> allowed;
    for (size_t c = 0; c < alone.candidates.size(); ++c) {
      const MappingCandidate& each = alone.candidates[c];
      const bool rest = of_backend(c) == 0 && std::ranges::none_of(each.nodes, [&](int node) {
                          return takes[static_cast<size_t>(node)];
                        });
      if (of_backend(c) != backend && !rest) continue;
      for (const int node : each.nodes) covered[static_cast<size_t>(node)] = true;
      allowed.push_back(each);
    }
    if (std::ranges::count(takes, true) == 0 || std::ranges::count(covered, false)) return 0;
    alone.candidates = std::move(allowed);
    try {
      const auto found = search_frontier(alone, {.interrupt = options_.interrupt});
      return found ? objective_us(alone, *found, objective_) : 0;
    } catch (const Interrupted&) {
      return 0;
    }
  }

  std::string note() const {
    if (range_.of != SweepOf::kDevices || objective_ != MapObjective::kSerial) return "";
    return limits_memory(result_.priced.problem)
               ? "one thing runs after the other (--objective serial): more devices help only where their "
                 "memory is short; --objective latency and throughput use them side by side"
               : "one thing runs after the other (--objective serial): more devices change nothing; "
                 "--objective latency and throughput use them side by side";
  }

  const MapResult& result_;
  const SweepRange range_;
  const SweepOptions& options_;
  const MapObjective objective_;
  std::vector<std::vector<Machine>> machines_;  ///< by point
  std::vector<std::optional<Found>> best_;      ///< by point
};

}  // namespace

std::string sweep_name(SweepOf of) {
  switch (of) {
    case SweepOf::kLink:
      return "link";
    case SweepOf::kDevices:
      return "devices";
    case SweepOf::kMemory:
      return "memory";
    case SweepOf::kCompute:
      return "compute";
  }
  return "";
}

SweepRange parse_sweep(const std::string& text) {
  const std::string name = text.substr(0, text.find('='));
  const auto of = std::ranges::find(kSweeps, name, sweep_name);
  if (of == std::end(kSweeps)) {
    std::vector<std::string> names;
    for (const SweepOf each : kSweeps) names.push_back(sweep_name(each));
    const std::string near = did_you_mean(name, names);
    throw UsageError("--sweep " + text + ": there are link, devices, memory and compute" +
                     (near.empty() ? "" : "; did you mean `" + near + "`?") + " (--sweep link=0.1:100)");
  }
  SweepRange range{.of = *of};
  char rest = 0;
  const std::string limits = text.substr(std::min(text.size(), name.size() + 1));
  const bool read = std::sscanf(limits.c_str(), "%lf:%lf%c", &range.least, &range.most, &rest) == 2;
  bool good = read && range.least > 0 && range.most >= range.least && std::isfinite(range.most);
  if (good && *of == SweepOf::kDevices)
    good = range.least == std::floor(range.least) && range.most == std::floor(range.most) &&
           range.most <= kMostDevices;
  if (!good) throw UsageError("--sweep " + text + ": write --sweep " + example_of(*of));
  return range;
}

void check_sweeps(const std::vector<SweepRange>& sweeps, const MapOptions& options) {
  if (!sweeps.empty() && options.objective == MapObjective::kEnergy)
    throw UsageError(
        "--sweep: faster links change times, and nobody knows their energy: use another --objective");
  bool device = false, memory = false;
  for (const std::string& name : options.backends) {
    const BackendRef backend = find_backend(name);
    if (!backend || backend->kind.empty() || backend->device_type == options.build.context.host().device_type)
      continue;
    device = true;
    const DeviceSheet* sheet = options.build.context.sheet_of(backend->kind);
    memory = memory || options.memory_bytes.count(name) || (sheet && sheet->memory_bytes > 0);
  }
  for (size_t i = 0; i < sweeps.size(); ++i) {
    const std::string flag = "--sweep " + sweep_name(sweeps[i].of);
    for (size_t j = 0; j < i; ++j)
      if (sweeps[j].of == sweeps[i].of) throw UsageError(flag + " is given twice");
    if (!device)
      throw UsageError(flag +
                       ": all targets compute on the processor, in its memory; add a device, such as " +
                       "--targets llvm,sim_fast_gpu");
    if (sweeps[i].of == SweepOf::kMemory && !memory)
      throw UsageError(flag + ": no device of the targets has a known limit of memory; give one with " +
                       "--memory DEVICE=BYTES");
  }
}

MapSweep sweep(const MapResult& result, const SweepRange& range, const SweepOptions& options) {
  return Sweeper(result, range, options).run();
}

}  // namespace baton
