#include "baton/profile/inside_split.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "baton/profile/measure.h"
#include "baton/support/error.h"

namespace baton {

namespace {

// With fewer rounds than this a median of a part of them says nothing.
constexpr size_t kRoundsPerRepeat = 5;

template <class Value>
double median_of(const std::vector<InsideRound>& rounds, Value value) {
  std::vector<double> values;
  values.reserve(rounds.size());
  for (const InsideRound& round : rounds) values.push_back(value(round));
  return median(std::move(values));
}

// How far two equal builds differ, and how far the two halves of the rounds disagree about it.
double noise_of(const std::vector<InsideRound>& rounds) {
  const auto difference = [](const InsideRound& round) { return (round.plain_us - round.twin_us) / round.plain_us; };
  double noise = std::abs(median_of(rounds, difference));
  const size_t half = rounds.size() / 2;
  if (half < kRoundsPerRepeat) return noise;
  for (const auto& part : {std::vector<InsideRound>(rounds.begin(), rounds.begin() + half),
                           std::vector<InsideRound>(rounds.begin() + half, rounds.end())})
    noise = std::max(noise, std::abs(median_of(part, difference)));
  return noise;
}

// Sites by operator, so that the operators' order is that of the program; stages of one operator as they were met.
std::vector<size_t> in_order(const std::vector<MarkSite>& sites) {
  std::vector<size_t> order(sites.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::make_pair(sites[a].block < 0, sites[a].block) < std::make_pair(sites[b].block < 0, sites[b].block);
  });
  return order;
}

// The stage that a register-fused block sits in: the one of its nearest consumer which has one, and of several of that
// operator the last, where its value is made.
int stage_of(const InsideSubject& subject, int block) {
  for (int at = block; at >= 0;) {
    int own = -1;
    for (size_t i = 0; i < subject.marks.size(); ++i)
      if (subject.marks[i].block == at) own = static_cast<int>(i);
    if (own >= 0) return own;
    int consumer = -1;
    for (int next = at + 1; next < static_cast<int>(subject.blocks.size()) && consumer < 0; ++next)
      for (int producer : subject.blocks[next].producers)
        if (producer == at) consumer = next;
    at = consumer;
  }
  return -1;
}

// "out_xf, relu": what was too short to be marked stands before what it was billed to.
std::string stage_text(const MarkSite& site) {
  std::string text;
  for (const HeldStage& held : site.holds) text += held.stage + ", ";
  return text + site.stage;
}

bool keeps_types(const KernelBlock& block) {
  if (block.call->args().empty()) return false;
  const auto inputs = flat_types(block.call->args()[0]->checked_type());
  const auto outputs = flat_types(block.call->checked_type());
  return inputs.size() == 1 && outputs.size() == 1 && inputs[0]->shape() == outputs[0]->shape() &&
         inputs[0]->dtype() == outputs[0]->dtype();
}

}  // namespace

const char* method_name(InsideMethod method) {
  switch (method) {
    case InsideMethod::kWhole: return "whole";
    case InsideMethod::kMarkers: return "markers";
    case InsideMethod::kAblation: return "ablation";
  }
  return "";
}

InsideMethod method_named(const std::string& name) {
  for (const InsideMethod method : {InsideMethod::kWhole, InsideMethod::kMarkers, InsideMethod::kAblation})
    if (name == method_name(method)) return method;
  throw Error("no method is called `" + name + "`");
}

bool is_root(const InsideSubject& subject, const MarkSite& site) {
  return site.block < 0 || site.block == static_cast<int>(subject.blocks.size()) - 1;
}

double empty_interval_us(const std::vector<InsideRound>& rounds) {
  return median_of(rounds, [](const InsideRound& round) { return round.empty_us; });
}

double us_per_visit(const std::vector<InsideRound>& rounds, size_t site) {
  const double empty_us = empty_interval_us(rounds);
  return median_of(rounds, [&](const InsideRound& round) {
    return round.visits[site] > 0 ? round.site_us[site] / round.visits[site] - empty_us : 0;
  });
}

std::vector<std::vector<int>> ablatable(const InsideSubject& subject) {
  std::set<int> with_stage;
  for (const MarkSite& site : subject.marks) with_stage.insert(site.block);
  const int last = static_cast<int>(subject.blocks.size()) - 1;
  std::vector<std::vector<int>> groups;
  for (int block = 0; last > 0 && block <= last; ++block) {
    if ((with_stage.count(block) && block != last) || !keeps_types(subject.blocks[block])) continue;
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const std::vector<int>& group) {
      const OriginSet& origins = subject.blocks[group.front()].call->origins();
      return !origins.origins().empty() && origins == subject.blocks[block].call->origins() &&
             stage_of(subject, group.front()) == stage_of(subject, block);
    });
    if (same != groups.end()) same->push_back(block);
    else groups.push_back({block});
  }
  return groups;
}

InsideTimes split_inside(const InsideSubject& subject, const std::vector<InsideRound>& rounds) {
  InsideTimes times;
  times.plain_us = median_of(rounds, [](const InsideRound& round) { return round.plain_us; });
  if (subject.blocks.size() < 2) {
    times.parts.push_back({{0}, false, "", 1.0, InsideMethod::kWhole, false});
    return times;
  }
  times.noise = noise_of(rounds);
  times.overhead = median_of(rounds, [](const InsideRound& round) { return round.marked_us / round.plain_us - 1; });
  const double empty_us = empty_interval_us(rounds);
  times.marker_ns = empty_us * 1e3;

  // A single stage is the whole kernel, whatever its markers cost.
  const bool whole = subject.marks.size() == 1;
  std::vector<double> share(subject.marks.size(), 1.0);
  if (!whole) {
    times.stage_sum = 0;
    for (size_t i = 0; i < share.size(); ++i) {
      share[i] = median_of(rounds, [&](const InsideRound& round) {
        return (round.site_us[i] - round.visits[i] * empty_us) / round.plain_us;
      });
      times.stage_sum += share[i];
    }
  }
  std::vector<double> left = share;  // what ablation has not explained
  std::map<int, std::vector<InsidePart>> fused;
  for (size_t i = 0; i < subject.ablated.size(); ++i) {
    const int site = stage_of(subject, subject.ablated[i].front());
    if (site < 0) continue;
    const double cost =
        median_of(rounds, [&](const InsideRound& round) { return (round.plain_us - round.ablated_us[i]) / round.plain_us; });
    InsidePart part{subject.ablated[i], false, subject.marks[site].stage, 0, InsideMethod::kAblation, cost <= times.noise};
    // Its marginal cost may exceed what is left of the stage: they are two measurements. The stage's is the frame.
    if (!part.below_noise) part.share = std::min(cost, std::max(0.0, left[site]));
    left[site] -= part.share;
    fused[site].push_back(part);
  }
  for (size_t i : in_order(subject.marks)) {
    const auto split = fused.find(static_cast<int>(i));
    InsidePart rest{{}, false, stage_text(subject.marks[i]), left[i], whole ? InsideMethod::kWhole : InsideMethod::kMarkers, left[i] <= 0};
    if (split != fused.end()) {
      times.parts.insert(times.parts.end(), split->second.begin(), split->second.end());
      rest.rest = true;
    } else if (subject.marks[i].block >= 0) {
      rest.blocks.push_back(subject.marks[i].block);
    }
    for (const HeldStage& held : subject.marks[i].holds)
      if (std::find(rest.blocks.begin(), rest.blocks.end(), held.block) == rest.blocks.end()) rest.blocks.push_back(held.block);
    if (rest.below_noise) rest.share = 0;
    times.parts.push_back(std::move(rest));
  }
  return times;
}

}  // namespace baton
