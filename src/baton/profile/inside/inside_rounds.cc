#include "baton/profile/inside/inside_rounds.h"

#include <algorithm>
#include <map>

#include "baton/clock/estimate.h"
#include "baton/profile/measure/measure.h"

namespace baton {

namespace {

/// A stage: the operators ablated in it, then what is left of it.
struct StageGroup {
  std::vector<InsidePart> ablated;
  InsidePart rest;

  double total() const {
    double sum = rest.share;
    for (const InsidePart& part : ablated) sum += part.share;
    return sum;
  }
};

std::vector<StageGroup> groups_of(const InsideTimes& times) {
  std::vector<StageGroup> groups;
  StageGroup group;
  for (const InsidePart& part : times.parts) {
    if (part.method == InsideMethod::kAblation) {
      group.ablated.push_back(part);
      continue;
    }
    group.rest = part;
    groups.push_back(std::move(group));
    group = {};
  }
  return groups;
}

bool same_stage(const StageGroup& a, const StageGroup& b) {
  return a.rest.stage == b.rest.stage && a.rest.method == b.rest.method && a.rest.blocks == b.rest.blocks;
}

const StageGroup* find(const std::vector<StageGroup>& groups, const StageGroup& wanted) {
  const auto at = std::find_if(groups.begin(), groups.end(),
                               [&](const StageGroup& group) { return same_stage(group, wanted); });
  return at == groups.end() ? nullptr : &*at;
}

template <class Value>
double median_over(const std::vector<const InsideTimes*>& rounds, Value value) {
  std::vector<double> values;
  for (const InsideTimes* round : rounds) values.push_back(value(*round));
  return median(std::move(values));
}

/// A stage over all rounds.
struct StageShares {
  StageGroup group;            ///< of the round with most stages
  std::vector<double> totals;  ///< per round
  bool every_time = true;
};

std::vector<StageShares> stages_of(const std::vector<const InsideTimes*>& rounds) {
  std::vector<std::vector<StageGroup>> groups;
  for (const InsideTimes* round : rounds) groups.push_back(groups_of(*round));
  const auto most = std::max_element(groups.begin(), groups.end(),
                                     [](const auto& a, const auto& b) { return a.size() < b.size(); });
  std::vector<StageShares> stages;
  for (const StageGroup& group : *most) {
    StageShares stage{group, {}, true};
    for (const std::vector<StageGroup>& round : groups) {
      const StageGroup* found = find(round, group);
      stage.totals.push_back(found ? found->total() : 0);
      stage.every_time &= found != nullptr;
    }
    stages.push_back(std::move(stage));
  }
  return stages;
}

void add_unique(std::vector<int>& blocks, const std::vector<int>& more) {
  for (int block : more)
    if (!std::count(blocks.begin(), blocks.end(), block)) blocks.push_back(block);
  std::sort(blocks.begin(), blocks.end());
}

void merge_into(StageShares& to, const StageShares& from) {
  to.group.rest.stage = from.group.rest.stage + ", " + to.group.rest.stage;
  add_unique(to.group.rest.blocks, from.group.rest.blocks);
  to.group.ablated.insert(to.group.ablated.begin(), from.group.ablated.begin(), from.group.ablated.end());
  for (size_t i = 0; i < to.totals.size(); ++i) to.totals[i] += from.totals[i];
}

std::vector<StageShares> merged(std::vector<StageShares> stages) {
  for (size_t i = 0; i < stages.size() && stages.size() > 1;) {
    if (stages[i].every_time) {
      ++i;
      continue;
    }
    merge_into(stages[i + 1 < stages.size() ? i + 1 : i - 1], stages[i]);
    stages.erase(stages.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return stages;
}

/// Per round: what ablation gave for these blocks, before it was cut at the noise.
std::vector<double> costs_of(const std::vector<const InsideTimes*>& rounds, const std::vector<int>& blocks) {
  std::vector<double> costs;
  for (const InsideTimes* round : rounds)
    for (const InsidePart& part : round->parts)
      if (part.method == InsideMethod::kAblation && part.blocks == blocks) costs.push_back(part.cost);
  return costs;
}

void add_stage(InsideTimes& times, StageShares stage, const std::vector<const InsideTimes*>& rounds) {
  for (InsidePart part : stage.group.ablated) {
    const std::vector<double> costs = costs_of(rounds, part.blocks);
    part.cost = median(costs);
    part.plus_minus = rounds_interval(costs);
    part.below_noise = part.cost <= std::max(times.noise, part.plus_minus.value_or(0));
    const double room = std::max(0.0, median(stage.totals));
    part.share = part.below_noise ? 0 : std::min(part.cost, room);
    for (size_t i = 0; i < stage.totals.size(); ++i) stage.totals[i] -= part.share;
    // What is too small to be measured is anything up to this.
    if (part.below_noise) part.plus_minus = std::max(times.noise, part.plus_minus.value_or(0));
    times.parts.push_back(std::move(part));
  }
  InsidePart rest = stage.group.rest;
  rest.share = std::max(0.0, median(stage.totals));
  rest.plus_minus = rounds_interval(stage.totals);
  rest.below_noise = rest.share <= 0;
  times.parts.push_back(std::move(rest));
}

}  // namespace

InsideTimes combined(const std::vector<InsideTimes>& all, const std::vector<bool>& disturbed,
                     const std::string& why) {
  std::vector<const InsideTimes*> rounds;
  for (size_t i = 0; i < all.size(); ++i)
    if (!disturbed[i]) rounds.push_back(&all[i]);
  const bool loaded = 2 * rounds.size() < all.size() || rounds.empty();
  if (loaded) {
    rounds.clear();
    for (const InsideTimes& each : all) rounds.push_back(&each);
  }
  InsideTimes times = *rounds.front();
  // A sampled kernel has them in one round only.
  if (const auto loaded = std::ranges::find_if(all, [](const InsideTimes& each) { return each.threads > 1; });
      times.threads < 2 && loaded != all.end()) {
    times.threads = loaded->threads;
    times.threads_us = loaded->threads_us;
    times.loads = loaded->loads;
    times.threads_tally = loaded->threads_tally;
  }
  times.rounds = rounds.size();
  times.tally = {};
  for (const InsideTimes& each : all) {
    times.tally.measured += each.tally.measured;
    times.tally.stepped += each.tally.stepped;
    times.tally.disturbed += each.tally.disturbed;
    times.tally.restless |= each.tally.restless;
  }
  if (loaded) times.under_load = why.empty() ? "something else ran on this machine" : why;
  if (rounds.size() < 2) return times;
  times.parts.clear();
  times.plain_us = median_over(rounds, [](const InsideTimes& each) { return each.plain_us; });
  times.stage_sum = median_over(rounds, [](const InsideTimes& each) { return each.stage_sum; });
  times.noise = median_over(rounds, [](const InsideTimes& each) { return each.noise; });
  times.marker_ns = median_over(rounds, [](const InsideTimes& each) { return each.marker_ns; });
  times.overhead = median_over(rounds, [](const InsideTimes& each) { return each.overhead; });
  for (StageShares& stage : merged(stages_of(rounds))) add_stage(times, std::move(stage), rounds);
  return times;
}

}  // namespace baton
