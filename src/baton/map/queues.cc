#include "baton/map/queues.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <queue>

#include "baton/map/frontier.h"
#include "baton/map/local_search.h"
#include "baton/support/error.h"
#include "baton/support/interrupt.h"

namespace baton {

namespace {

class Deadline {
 public:
  explicit Deadline(const QueueOptions& options)
      : end_(std::chrono::steady_clock::now() + std::chrono::duration<double>(options.seconds)),
        interrupt_(options.interrupt) {}
  bool over() const {
    if (interrupt_ && *interrupt_) throw Interrupted("interrupted");
    return std::chrono::steady_clock::now() >= end_;
  }

 private:
  std::chrono::time_point<std::chrono::steady_clock, std::chrono::duration<double>> end_;
  const std::atomic<bool>* interrupt_;
};

// Everything that a mapping does, and what waits for what.
struct QueueWork {
  struct Item {
    int queue = 0;
    double us = 0;
    std::vector<size_t> after = {};  ///< items that wait for it
    int waits_for = 0;
    double to_end = 0;  ///< the longest way from its begin to the end
  };
  std::vector<Item> items;  ///< candidates, then steps
};

QueueWork queue_work(const MappingProblem& problem, const MappingSolution& solution) {
  const Queues queues(problem);
  const MappingIndex index(problem);
  QueueWork work;
  std::map<std::pair<int, int>, size_t> makes;  // value and format -> item
  std::vector<CandidateValues> values;
  for (const int c : solution.chosen) {
    const MappingCandidate& candidate = problem.candidates[static_cast<size_t>(c)];
    values.push_back(index.values_of(candidate.nodes));
    for (size_t i = 0; i < values.back().outputs.size(); ++i)
      makes[{values.back().outputs[i], candidate.output_formats[i]}] = work.items.size();
    work.items.push_back({candidate.device, candidate.us});
  }
  for (const MappingStep& step : solution.steps) {
    makes.try_emplace({step.value, step.to}, work.items.size());
    work.items.push_back(
        {queues.of_conversion(step.from, step.to), problem.conversion_us(step.value, step.from, step.to)});
  }
  const auto wait = [&](size_t item, int value, int format) {
    const auto made = makes.find({value, format});
    if (made == makes.end()) return;  // given to the model
    work.items[made->second].after.push_back(item);
    ++work.items[item].waits_for;
  };
  for (size_t i = 0; i < solution.chosen.size(); ++i) {
    const MappingCandidate& candidate = problem.candidates[static_cast<size_t>(solution.chosen[i])];
    for (size_t k = 0; k < values[i].inputs.size(); ++k)
      wait(i, values[i].inputs[k], candidate.input_formats[k]);
  }
  for (size_t i = 0; i < solution.steps.size(); ++i)
    wait(solution.chosen.size() + i, solution.steps[i].value, solution.steps[i].from);

  std::vector<int> waiting;
  std::vector<size_t> order;
  for (size_t i = 0; i < work.items.size(); ++i) {
    waiting.push_back(work.items[i].waits_for);
    if (!waiting[i]) order.push_back(i);
  }
  for (size_t at = 0; at < order.size(); ++at)
    for (const size_t next : work.items[order[at]].after)
      if (--waiting[next] == 0) order.push_back(next);
  BATON_CHECK(order.size() == work.items.size(), "a mapping that waits for itself");
  for (size_t at = order.size(); at-- > 0;) {
    QueueWork::Item& item = work.items[order[at]];
    double longest = 0;
    for (const size_t next : item.after) longest = std::max(longest, work.items[next].to_end);
    item.to_end = item.us + longest;
  }
  return work;
}

// The problem with every time multiplied by its queue's weight.
MappingProblem weighted(const MappingProblem& problem, const Queues& queues,
                        const std::vector<double>& weights) {
  MappingProblem result = problem;
  for (MappingCandidate& candidate : result.candidates)
    candidate.us *= weights[static_cast<size_t>(candidate.device)];
  for (size_t f = 0; f < result.formats.size(); ++f)
    for (size_t g = 0; g < result.formats.size(); ++g)
      if (auto& way = result.conversions[f][g]; way && f != g) {
        const auto queue =
            static_cast<size_t>(queues.of_conversion(static_cast<int>(f), static_cast<int>(g)));
        way->fixed_us *= weights[queue];
        way->us_per_byte *= weights[queue];
      }
  return result;
}

std::vector<double> loads(const MappingProblem& problem, const MappingSolution& solution) {
  const Queues queues(problem);
  std::vector<double> busy(static_cast<size_t>(queues.count()));
  for (const int c : solution.chosen) {
    const MappingCandidate& candidate = problem.candidates[static_cast<size_t>(c)];
    busy[static_cast<size_t>(candidate.device)] += candidate.us;
  }
  for (const MappingStep& step : solution.steps)
    busy[static_cast<size_t>(queues.of_conversion(step.from, step.to))] +=
        problem.conversion_us(step.value, step.from, step.to);
  return busy;
}

/// `least_us`: with everything side by side that can be.
double overlapped_us(const MappingProblem& problem, double serial_us, double least_us) {
  return serial_us - problem.overlap * (serial_us - least_us);
}

double interval_of(const MappingProblem& problem, const std::vector<double>& busy) {
  if (busy.empty()) return 0;
  return overlapped_us(problem, std::accumulate(busy.begin(), busy.end(), 0.0),
                       *std::max_element(busy.begin(), busy.end()));
}

// No schedule is shorter than a chain of nodes that wait for each other, each in the cheapest candidate. A
// candidate of several nodes counts for each of them by its part of them.
double longest_chain(const MappingProblem& problem) {
  std::vector<double> least(static_cast<size_t>(problem.nodes), HUGE_VAL);
  for (const MappingCandidate& candidate : problem.candidates)
    for (const int node : candidate.nodes) {
      double& us = least[static_cast<size_t>(node)];
      us = std::min(us, candidate.us / static_cast<double>(candidate.nodes.size()));
    }
  const MappingIndex index(problem);
  std::vector<double> end(static_cast<size_t>(problem.nodes));
  double longest = 0;
  for (int node = 0; node < problem.nodes; ++node) {
    double begin = 0;
    for (const int v : index.reads(node))
      if (const int producer = problem.values[static_cast<size_t>(v)].producer; producer >= 0)
        begin = std::max(begin, end[static_cast<size_t>(producer)]);
    longest = std::max(longest, end[static_cast<size_t>(node)] = begin + least[static_cast<size_t>(node)]);
  }
  return longest;
}

}  // namespace

Queues::Queues(const MappingProblem& problem) : problem_(problem) {
  const size_t devices = problem.memory_limits.size();
  link_.assign(devices, std::vector<int>(devices, -1));
  const auto name = [&](size_t device) {
    for (const MappingFormat& format : problem.formats)
      if (format.device == static_cast<int>(device)) return format.name;
    return "device " + std::to_string(device);
  };
  for (size_t d = 0; d < devices; ++d) names_.push_back(name(d));
  for (size_t f = 0; f < problem.formats.size(); ++f)
    for (size_t g = 0; g < problem.formats.size(); ++g) {
      const auto a = static_cast<size_t>(std::min(problem.formats[f].device, problem.formats[g].device));
      const auto b = static_cast<size_t>(std::max(problem.formats[f].device, problem.formats[g].device));
      if (a == b || !problem.conversions[f][g] || link_[a][b] >= 0) continue;
      link_[a][b] = link_[b][a] = count();
      names_.push_back(name(a) + " - " + name(b));
    }
}

int Queues::of_conversion(int from, int to) const {
  const int a = problem_.formats[static_cast<size_t>(from)].device;
  const int b = problem_.formats[static_cast<size_t>(to)].device;
  return a == b ? a : link_[static_cast<size_t>(a)][static_cast<size_t>(b)];
}

std::vector<QueueItem> timeline(const MappingProblem& problem, const MappingSolution& solution) {
  QueueWork work = queue_work(problem, solution);
  struct Event {
    double us;
    size_t item;
    bool operator<(const Event& other) const {
      return us > other.us || (us == other.us && item > other.item);
    }
  };
  std::priority_queue<Event> running;
  const auto urgent = [&](size_t a, size_t b) {
    return work.items[a].to_end < work.items[b].to_end ||
           (work.items[a].to_end == work.items[b].to_end && a > b);
  };
  const int queues = Queues(problem).count();
  std::vector<std::vector<size_t>> ready(static_cast<size_t>(queues));  // heaps
  std::vector<bool> busy(ready.size());
  std::vector<QueueItem> items;
  double now = 0;
  const auto offer = [&](size_t i) {
    auto& heap = ready[static_cast<size_t>(work.items[i].queue)];
    heap.push_back(i);
    std::push_heap(heap.begin(), heap.end(), urgent);
  };
  const auto begin = [&](size_t queue) {
    auto& heap = ready[queue];
    if (busy[queue] || heap.empty()) return;
    std::pop_heap(heap.begin(), heap.end(), urgent);
    const size_t i = heap.back();
    heap.pop_back();
    busy[queue] = true;
    running.push({now + work.items[i].us, i});
    const bool candidate = i < solution.chosen.size();
    items.push_back({static_cast<int>(queue), now, now + work.items[i].us,
                     candidate ? static_cast<int>(i) : -1,
                     candidate ? -1 : static_cast<int>(i - solution.chosen.size())});
  };
  for (size_t i = 0; i < work.items.size(); ++i)
    if (!work.items[i].waits_for) offer(i);
  for (size_t queue = 0; queue < ready.size(); ++queue) begin(queue);
  while (!running.empty()) {
    now = running.top().us;
    // All that end now, before anything begins: else a queue takes what is less urgent.
    while (!running.empty() && running.top().us == now) {
      const size_t done = running.top().item;
      running.pop();
      busy[static_cast<size_t>(work.items[done].queue)] = false;
      for (const size_t next : work.items[done].after)
        if (--work.items[next].waits_for == 0) offer(next);
    }
    for (size_t queue = 0; queue < ready.size(); ++queue) begin(queue);
  }
  BATON_CHECK(items.size() == work.items.size(), "a timeline without an end");
  return items;
}

double latency_us(const std::vector<QueueItem>& timeline) {
  double end = 0;
  for (const QueueItem& item : timeline) end = std::max(end, item.end_us);
  return end;
}

double latency_us(const MappingProblem& problem, const MappingSolution& solution) {
  const std::vector<QueueItem> items = timeline(problem, solution);
  double serial_us = 0;
  for (const QueueItem& item : items) serial_us += item.end_us - item.begin_us;
  return overlapped_us(problem, serial_us, latency_us(items));
}

double interval_us(const MappingProblem& problem, const MappingSolution& solution) {
  return interval_of(problem, loads(problem, solution));
}

MappingSolution search_latency(const MappingProblem& problem, const MappingSolution& start,
                               const QueueOptions& options) {
  const MappingCost cost = [&](const MappingSolution& each) { return latency_us(problem, each); };
  const LocalSearchOptions how{.seconds = options.seconds, .interrupt = options.interrupt};
  MappingSolution best = improved(problem, start, cost, how);
  best.method = "queues side by side, from " + start.method;
  best.bound_us = std::min(longest_chain(problem), best.us);
  return best;
}

std::optional<MappingSolution> search_throughput(const MappingProblem& problem, const QueueOptions& options) {
  const Deadline deadline(options);
  const Queues queues(problem);
  const auto count = static_cast<size_t>(queues.count());
  std::vector<double> weights(count, 1.0 / static_cast<double>(count));
  std::optional<MappingSolution> best;
  double bound = 0;
  for (int round = 0; round < options.rounds && (round == 0 || !deadline.over()); ++round) {
    // What does not overlap weighs the same on every queue.
    std::vector<double> all = weights;
    for (double& weight : all) weight = overlapped_us(problem, 1, weight);
    const MappingProblem priced = weighted(problem, queues, all);
    const auto found = search_frontier(priced, {.width = options.width, .interrupt = options.interrupt});
    if (!found) return std::nullopt;
    bound = std::max(bound, found->bound_us);
    const std::vector<double> busy = loads(problem, *found);
    const double most = *std::max_element(busy.begin(), busy.end());
    if (const double us = interval_of(problem, busy); !best || us < best->us) {
      best = found;
      best->us = us;
    }
    if (best->us <= bound * (1 + 1e-9)) break;
    // Multiplicative weights: queues with more than the average load become dearer.
    double sum = 0;
    const double rate = 0.7 / std::sqrt(round + 1.0);
    for (size_t q = 0; q < count; ++q)
      sum += weights[q] = std::max(weights[q], 1e-6) * std::exp(rate * busy[q] / most);
    for (double& weight : weights) weight /= sum;
  }
  // The sum of the loads tells which of two mappings with equally busy queues leads further.
  constexpr double kSumCounts = 1e-3;
  const MappingCost cost = [&](const MappingSolution& each) {
    const std::vector<double> busy = loads(problem, each);
    return interval_of(problem, busy) + kSumCounts * std::accumulate(busy.begin(), busy.end(), 0.0);
  };
  if (best->us > bound * (1 + 1e-9)) {
    const LocalSearchOptions how{.seconds = options.seconds / 2, .interrupt = options.interrupt};
    MappingSolution local = improved(problem, *best, cost, how);
    local.us = interval_us(problem, local);
    if (local.us < best->us) best = std::move(local);
  }
  best->bound_us = std::min(bound, best->us);
  best->method = "weighted queues";
  return best;
}

}  // namespace baton
