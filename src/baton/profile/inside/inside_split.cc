#include "baton/profile/inside/inside_split.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "baton/profile/measure/measure.h"
#include "baton/support/error.h"

namespace baton {

namespace {

// With fewer rounds per part, medians of the parts are not meaningful.
constexpr size_t kRoundsPerRepeat = 5;
// Up to one disturbed round in this many is not reported: occasional interrupts are normal.
constexpr size_t kFewDisturbed = 10;

template <class Value>
double median_of(const std::vector<InsideRound>& rounds, Value value) {
  std::vector<double> values;
  values.reserve(rounds.size());
  for (const InsideRound& round : rounds) values.push_back(value(round));
  return median(std::move(values));
}

// The difference between two equal builds, and the disagreement about it between the two halves of the
// rounds.
double noise_of(const std::vector<InsideRound>& rounds) {
  const auto difference = [](const InsideRound& round) {
    return (round.plain_us - round.twin_us) / round.plain_us;
  };
  double noise = std::abs(median_of(rounds, difference));
  const size_t half = rounds.size() / 2;
  if (half < kRoundsPerRepeat) return noise;
  for (const auto& part : {std::vector<InsideRound>(rounds.begin(), rounds.begin() + half),
                           std::vector<InsideRound>(rounds.begin() + half, rounds.end())})
    noise = std::max(noise, std::abs(median_of(part, difference)));
  return noise;
}

std::vector<int> all_blocks(const InsideSubject& subject) {
  std::vector<int> blocks(subject.blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) blocks[i] = static_cast<int>(i);
  return blocks;
}

}  // namespace

const char* method_name(InsideMethod method) {
  switch (method) {
    case InsideMethod::kWhole:
      return "whole";
    case InsideMethod::kMarkers:
      return "markers";
    case InsideMethod::kAblation:
      return "ablation";
    case InsideMethod::kSampling:
      return "sampling";
    case InsideMethod::kParts:
      return "parts";
    case InsideMethod::kPredicted:
      return "predicted";
  }
  return "";
}

InsideMethod method_named(const std::string& name) {
  for (const InsideMethod method : {InsideMethod::kWhole, InsideMethod::kMarkers, InsideMethod::kAblation,
                                    InsideMethod::kSampling, InsideMethod::kParts, InsideMethod::kPredicted})
    if (name == method_name(method)) return method;
  throw Error("no method is called `" + name + "`");
}

double empty_interval_us(const std::vector<InsideRound>& rounds) {
  return median_of(rounds, [](const InsideRound& round) { return round.empty_us; });
}

double stage_share(const std::vector<InsideRound>& rounds, size_t site) {
  return median_of(rounds, [&](const InsideRound& round) {
    return (round.site_us[site] - round.visits[site] * round.empty_us) / round.plain_us;
  });
}

double us_per_visit(const std::vector<InsideRound>& rounds, size_t site) {
  const double empty_us = empty_interval_us(rounds);
  return median_of(rounds, [&](const InsideRound& round) {
    return round.visits[site] > 0 ? round.site_us[site] / round.visits[site] - empty_us : 0;
  });
}

double uncertainty(const std::vector<InsideRound>& rounds) {
  const double times = std::sqrt(static_cast<double>(rounds.size()));
  double worst = 0;
  // The standard error of a median, from the median deviation: for mostly normal distributions with few
  // outliers.
  const auto add = [&](auto value) {
    const double middle = median_of(rounds, value);
    const double deviation =
        median_of(rounds, [&](const InsideRound& round) { return std::abs(value(round) - middle); });
    worst = std::max(worst, 1.2533 * 1.4826 * deviation / times);
  };
  if (rounds.front().twin_us == 0 && rounds.front().marked_us == 0) {
    const double usual = median_of(rounds, [](const InsideRound& round) { return round.plain_us; });
    add([&](const InsideRound& round) { return round.plain_us / usual; });
    return worst;
  }
  const size_t sites = rounds.front().site_us.size();  // 0: rounds without the marked variants
  for (size_t i = 0; i < sites && sites > 1; ++i)
    add([&](const InsideRound& round) { return round.site_us[i] / round.plain_us; });
  if (rounds.front().twin_us != 0)
    add([](const InsideRound& round) { return round.twin_us / round.plain_us; });
  for (size_t i = 0; i < rounds.front().ablated_us.size(); ++i)
    add([&](const InsideRound& round) { return round.ablated_us[i] / round.plain_us; });
  if (sites == 1) add([](const InsideRound& round) { return round.marked_us / round.plain_us; });
  return worst;
}

namespace {

// Adds the parts of a kernel whose stages, `subject.marks`, have these shares.
void add_parts(InsideTimes& times, const InsideSubject& subject, const std::vector<InsideRound>& rounds,
               const std::vector<double>& shares, InsideMethod method) {
  std::vector<double> remains = shares;  // time not yet explained by ablation
  std::map<int, std::vector<InsidePart>> fused;
  for (size_t i = 0; i < subject.ablated.size(); ++i) {
    const int site = stage_of(subject, subject.ablated[i].front());
    if (site < 0) continue;
    const double cost = median_of(rounds, [&](const InsideRound& round) {
      return (round.plain_us - round.ablated_us[i]) / round.plain_us;
    });
    InsidePart part{subject.ablated[i],  false, subject.marks[site].stage, 0, InsideMethod::kAblation,
                    cost <= times.noise, cost};
    if (moves_nothing(subject, subject.ablated[i].front())) part.reason = kMovesNothing;
    // Its marginal cost may exceed the rest of the stage, since both are measured separately; it is limited
    // to the stage's time.
    if (!part.below_noise) part.share = std::min(cost, std::max(0.0, remains[site]));
    remains[site] -= part.share;
    fused[site].push_back(part);
  }
  auto left = left_in(subject);
  for (auto& [site, blocks] : left) {
    if (site < 0) continue;
    std::erase_if(blocks, [&](int block) {
      if (!moves_nothing(subject, block)) return false;
      InsidePart part{{block}, false, subject.marks[site].stage, 0, InsideMethod::kAblation, true, 0};
      part.reason = kMovesNothing;
      fused[site].push_back(std::move(part));
      return true;
    });
  }
  for (size_t i : in_order(subject)) {
    const auto split = fused.find(static_cast<int>(i));
    InsidePart rest{{}, false, stage_text(subject.marks[i]), remains[i], method, remains[i] <= 0};
    std::set<int> apart;  // blocks that have their own part
    if (split != fused.end()) {
      times.parts.insert(times.parts.end(), split->second.begin(), split->second.end());
      rest.rest = true;
      for (const InsidePart& part : split->second) apart.insert(part.blocks.begin(), part.blocks.end());
    }
    for (int block : blocks_of(subject, subject.marks[i]))
      if (!apart.count(block)) rest.blocks.push_back(block);
    if (const auto more = left.find(static_cast<int>(i)); more != left.end() && !more->second.empty()) {
      rest.blocks.insert(rest.blocks.end(), more->second.begin(), more->second.end());
      rest.rest = true;
    }
    if (rest.below_noise) rest.share = 0;
    times.parts.push_back(std::move(rest));
  }
}

// All fields except the parts.
InsideTimes totals_of(const std::vector<InsideRound>& rounds) {
  InsideTimes times;
  times.plain_us = median_of(rounds, [](const InsideRound& round) { return round.plain_us; });
  if (rounds.front().twin_us == 0) return times;
  times.noise = noise_of(rounds);
  if (rounds.front().site_us.empty()) return times;
  times.overhead =
      median_of(rounds, [](const InsideRound& round) { return round.marked_us / round.plain_us - 1; });
  times.marker_ns = empty_interval_us(rounds) * 1e3;
  return times;
}

}  // namespace

InsideTimes split_inside(const InsideSubject& subject, const std::vector<InsideRound>& rounds) {
  InsideTimes times = totals_of(rounds);
  const bool one = subject.blocks.size() < 2 && subject.marks.size() < 2;
  if (one || subject.marks.empty()) {  // no stages: a pure copy
    times.parts.push_back({all_blocks(subject), false, "", 1.0, InsideMethod::kWhole, false});
    return times;
  }
  // A single stage is the whole kernel, whatever its marks cost.
  std::vector<double> shares(subject.marks.size(), 1.0);
  if (shares.size() > 1) {
    times.stage_sum = 0;
    for (size_t i = 0; i < shares.size(); ++i) {
      times.stage_sum += shares[i] = stage_share(rounds, i);
      if (is_root(subject, subject.marks[i])) continue;
      const double visit = us_per_visit(rounds, i);
      times.visit_us = times.visit_us == 0 ? visit : std::min(times.visit_us, visit);
    }
  }
  add_parts(times, subject, rounds, shares,
            shares.size() == 1 ? InsideMethod::kWhole : InsideMethod::kMarkers);
  return times;
}

InsideTimes split_sampled(InsideSubject subject, const std::vector<InsideRound>& rounds,
                          const std::vector<SampledShare>& shares) {
  InsideTimes times = totals_of(rounds);
  subject.marks.clear();
  std::vector<double> of_site;
  double elsewhere = 0;
  for (const SampledShare& share : shares) {
    if (share.stage.empty() || share.block < 0) {
      elsewhere += share.share;
      continue;
    }
    const int id = static_cast<int>(subject.marks.size()) + 1;
    subject.marks.push_back({id, share.block, share.stage,
                             block_name(subject.blocks, share.block) + "__" + share.stage, share.holds});
    of_site.push_back(share.share);
  }
  if (subject.marks.empty()) {
    times.parts.push_back({all_blocks(subject), false, "", 1.0, InsideMethod::kWhole, false});
    return times;
  }
  size_t root = of_site.size() - 1;
  for (size_t i = of_site.size(); i-- > 0;)
    if (is_root(subject, subject.marks[i])) root = i;
  of_site[root] += elsewhere;
  add_parts(times, subject, rounds, of_site, InsideMethod::kSampling);
  return times;
}

std::vector<std::string> notes_of(const InsideTimes& times) {
  std::vector<std::string> notes;
  const RoundTally& tally = times.tally;
  const auto of = [&](size_t left_out) {
    return std::to_string(left_out) + " of " + std::to_string(tally.measured) + " rounds left out: ";
  };
  if (tally.stepped) notes.push_back(of(tally.stepped) + "the clock stepped");
  if (tally.disturbed * kFewDisturbed > tally.measured)
    notes.push_back(of(tally.disturbed) + "something else held the kernel up");
  if (tally.restless) notes.push_back("most rounds were disturbed: something else runs on this machine");
  if (!times.under_load.empty()) notes.push_back("measured beside other programs: " + times.under_load);
  if (!times.fallback.empty()) notes.push_back(times.fallback);
  return notes;
}

}  // namespace baton
