#include "baton/predict/regressor.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

#include "baton/predict/dataset.h"
#include "baton/predict/kernel_facts.h"
#include "baton/predict/roofline_base.h"
#include "baton/predict/side_by_side.h"
#include "baton/support/base/statistics.h"
#include "baton/support/error.h"

namespace baton {

namespace {

constexpr double kLeastError = 0.01;  // errors below are all the same: measurements are not better
constexpr double kInRange = 0.975;    // of held-out kernels
constexpr double kLeastSpread = 0.005, kMostSpread = 3;
constexpr double kOutsideNovelty = 1.5;  // of an extent beyond those in training
// Trees of a member that are asked to tell where members disagree: more trees tell no more.
constexpr size_t kDisagreeTrees = 50;
constexpr double kTooFew = 1.5;  // widens an interval that the calibration set is too small for
// A prediction stays within what kernels of its kind took in training, and a fifth beyond.
constexpr double kBeyond = 0.2;

std::vector<double> log_bases(std::span<const KernelCase* const> cases, const Regressor& of) {
  std::vector<double> logs;
  if (of.source) {
    for (const LogTime& time : of.source->log_times(cases)) logs.push_back(time.log_us);
    return logs;
  }
  for (const KernelCase* each : cases) logs.push_back(std::log(of.base.us(*each)));
  return logs;
}

FeatureRows rows_of(const FeatureSpace& space, std::span<const KernelCase* const> cases) {
  FeatureRows rows{space.size(), std::vector<float>(space.size() * cases.size())};
  for (size_t i = 0; i < cases.size(); ++i) space.write(*cases[i], rows.values.data() + i * space.size());
  return rows;
}

FeatureRows rows_of(const FeatureRows& all, std::span<const int> chosen) {
  FeatureRows rows{all.columns, {}};
  rows.values.reserve(chosen.size() * all.columns);
  for (const int i : chosen) {
    const auto row = all.row(static_cast<size_t>(i));
    rows.values.insert(rows.values.end(), row.begin(), row.end());
  }
  return rows;
}

/// Standard deviations of what several say of each of some things.
class Disagreement {
 public:
  explicit Disagreement(size_t things) : sums_(things), squares_(things) {}
  void add(const std::vector<double>& values) {
    for (size_t i = 0; i < values.size(); ++i) {
      sums_[i] += values[i];
      squares_[i] += values[i] * values[i];
    }
    ++count_;
  }
  double of(size_t i) const {
    if (count_ < 2) return 0;
    const double mean = sums_[i] / count_;
    return std::sqrt(std::max(0.0, (squares_[i] - count_ * mean * mean) / (count_ - 1)));
  }

 private:
  std::vector<double> sums_, squares_;
  double count_ = 0;
};

double spread_of(double log_spread) { return std::clamp(std::exp(log_spread), kLeastSpread, kMostSpread); }

/// The steps of fit_regressor().
class Fitting {
 public:
  Fitting(const LearningSet& set, std::span<const Fold> folds, const RegressorOptions& options,
          std::shared_ptr<const Regressor> source)
      : set_(set), options_(options) {
    Regressor& made = fitted_.regressor;
    made.source = std::move(source);
    for (const Fold& fold : folds) {
      Fold& kept = folds_.emplace_back();
      for (const int i : fold.train)
        if (set.weights[static_cast<size_t>(i)] > 0) kept.train.push_back(i);
      std::ranges::sort(kept.train);  // find_disagreement() intersects them
      kept.test = fold.test;
    }
    std::vector<const KernelCase*> learned;
    for (size_t i = 0; i < set.cases.size(); ++i) {
      if (set.weights[i] <= 0) continue;
      learned.push_back(set.cases[i]);
      learned_.push_back(static_cast<int>(i));
    }
    if (learned.size() < kLeastKernels)
      throw Error("a predictor needs at least " + std::to_string(kLeastKernels) +
                  " different kernels with reliable times, and there are " + std::to_string(learned.size()) +
                  ": measure more of them (`baton profile --store`)");
    made.trained_on = static_cast<int64_t>(learned.size());
    made.space = FeatureSpace(learned);
    rows_ = rows_of(made.space, set.cases);
    if (!made.source) made.base = TermBase::fit(set.cases, set.us, set.weights);
    bases_ = log_bases(set.cases, made);
    double sum = 0, weight = 0;
    for (const int i : learned_) {
      const auto at = static_cast<size_t>(i);
      add_to_kind(*set.cases[at], std::log(set.us[at]));
      sum += set.weights[at] * (std::log(set.us[at]) - bases_[at]);
      weight += set.weights[at];
    }
    made.centre = sum / weight;
  }

  FittedRegressor run() {
    fit_members();
    if (options_.disagreement) find_disagreement();
    if (fitted_.regressor.members.empty())
      fitted_.regressor.members.push_back(trees_of(learned_, options_.boost.rounds));
    fit_spreads();
    Regressor& made = fitted_.regressor;
    made.range = RangeCheck::of(made.space, rows_of(rows_, learned_));
    std::ranges::sort(distances_);
    made.range.limit = std::max(1e-3, quantile(distances_, kInRange));
    for (size_t f = 0; f < folds_.size(); ++f)
      for (size_t i = 0; i < fitted_.held_out[f].size(); ++i) {
        double& novelty = fitted_.held_out[f][i].doubts.novelty;
        novelty /= made.range.limit;
        if (outside_.count({f, i})) novelty = std::max(novelty, kOutsideNovelty);
      }
    std::ranges::sort(made.scores);
    return std::move(fitted_);
  }

 private:
  void add_to_kind(const KernelCase& kernel, double log_us) {
    const double over = log_us - log_roofline_us(kernel);
    const auto [at, is_new] = fitted_.regressor.kinds.try_emplace(kind_of_kernel(kernel));
    KindLimits& limits = at->second;
    limits.low = is_new ? over : std::min(limits.low, over);
    limits.high = is_new ? over : std::max(limits.high, over);
    limits.fastest = std::min(limits.fastest, std::exp(log_us) / least_us(kernel));
    ++limits.kernels;
  }

  bool is_usable(const Fold& fold) const {
    return fold.train.size() >= kLeastKernels / 2 && !fold.test.empty();
  }

  Trees trees_of(const std::vector<int>& chosen, int rounds) const {
    std::vector<float> labels, weights;
    for (const int i : chosen) {
      const auto at = static_cast<size_t>(i);
      labels.push_back(static_cast<float>(std::log(set_.us[at]) - bases_[at] - fitted_.regressor.centre));
      weights.push_back(static_cast<float>(set_.weights[at]));
    }
    BoostOptions options = options_.boost;
    options.rounds = rounds;
    options.threads = 1;  // several sets of trees are made side by side
    return boost(rows_of(rows_, chosen), labels, weights, options);
  }

  /// What one fold teaches.
  struct Member {
    std::optional<Trees> trees;
    std::vector<LogTime> held;
    std::vector<double> distances;
    std::vector<size_t> outside;  ///< of the tests
  };

  Member member_of(const Fold& fold) const {
    Member made;
    if (!is_usable(fold)) return made;
    made.trees = trees_of(fold.train, options_.boost.rounds);
    const FeatureRows tests = rows_of(rows_, fold.test);
    const RangeCheck range = RangeCheck::of(fitted_.regressor.space, rows_of(rows_, fold.train));
    const std::vector<double> sums = made.trees->sums(tests);
    for (size_t i = 0; i < fold.test.size(); ++i) {
      const auto at = static_cast<size_t>(fold.test[i]);
      made.held.push_back(
          {bases_[at] + fitted_.regressor.centre + sums[i], {.novelty = range.distance(tests.row(i))}});
      if (set_.weights[at] > 0) made.distances.push_back(made.held.back().doubts.novelty);
      if (!range.outside(tests.row(i), fitted_.regressor.space).empty()) made.outside.push_back(i);
    }
    return made;
  }

  void fit_members() {
    std::vector<Member> made(folds_.size());
    side_by_side(folds_.size(), options_.boost.threads, [&](size_t f) { made[f] = member_of(folds_[f]); });
    for (size_t f = 0; f < made.size(); ++f) {
      fitted_.held_out.push_back(std::move(made[f].held));
      distances_.insert(distances_.end(), made[f].distances.begin(), made[f].distances.end());
      for (const size_t i : made[f].outside) outside_.emplace(f, i);
      if (made[f].trees) fitted_.regressor.members.push_back(std::move(*made[f].trees));
    }
  }

  /// Measures disagreement on each kernel held out: only one member has not seen it, so that others are made
  /// without two folds.
  void find_disagreement() {
    struct Pair {
      size_t first, second;
      std::vector<double> said[2];  ///< of the tests of both
    };
    std::vector<Pair> pairs;
    for (size_t f = 0; f < folds_.size(); ++f)
      for (size_t g = f + 1; g < folds_.size(); ++g)
        if (!fitted_.held_out[f].empty() && !fitted_.held_out[g].empty()) pairs.push_back({f, g, {}});
    side_by_side(pairs.size(), options_.boost.threads, [&](size_t p) {
      Pair& pair = pairs[p];
      std::vector<int> both;
      std::ranges::set_intersection(folds_[pair.first].train, folds_[pair.second].train,
                                    std::back_inserter(both));
      if (both.size() < kLeastKernels / 2) return;
      const Trees trees = trees_of(both, std::min<int>(options_.boost.rounds, kDisagreeTrees));
      pair.said[0] = trees.sums(rows_of(rows_, folds_[pair.first].test));
      pair.said[1] = trees.sums(rows_of(rows_, folds_[pair.second].test));
    });
    std::vector<Disagreement> all;
    for (const auto& held : fitted_.held_out) all.emplace_back(held.size());
    for (const Pair& pair : pairs) {
      if (!pair.said[0].empty()) all[pair.first].add(pair.said[0]);
      if (!pair.said[1].empty()) all[pair.second].add(pair.said[1]);
    }
    for (size_t f = 0; f < all.size(); ++f)
      for (size_t i = 0; i < fitted_.held_out[f].size(); ++i)
        fitted_.held_out[f][i].doubts.disagreement = all[f].of(i);
  }

  double error(size_t fold, size_t i) const {
    const auto at = static_cast<size_t>(folds_[fold].test[i]);
    return std::abs(std::log(set_.us[at]) - fitted_.held_out[fold][i].log_us);
  }

  /// Each fold's spread is learned from the errors in the other folds.
  struct Spread {
    std::optional<Trees> trees;
    float mean = 0;
    std::vector<double> sums;  ///< of the fold's tests
  };

  Spread spread_without(size_t fold, const BoostOptions& options) const {
    Spread made;
    std::vector<int> chosen;
    std::vector<float> labels, weights;
    for (size_t other = 0; other < folds_.size(); ++other)
      for (size_t i = 0; other != fold && i < fitted_.held_out[other].size(); ++i) {
        const int at = folds_[other].test[i];
        if (set_.weights[static_cast<size_t>(at)] <= 0) continue;
        chosen.push_back(at);
        labels.push_back(static_cast<float>(std::log(error(other, i) + kLeastError)));
        weights.push_back(1);
      }
    if (chosen.size() < kLeastKernels / 2) return made;
    made.mean = std::accumulate(labels.begin(), labels.end(), 0.0F) / static_cast<float>(labels.size());
    for (float& label : labels) label -= made.mean;
    made.trees = boost(rows_of(rows_, chosen), labels, weights, options);
    made.sums = made.trees->sums(rows_of(rows_, folds_[fold].test));
    return made;
  }

  void fit_spreads() {
    Regressor& made = fitted_.regressor;
    BoostOptions options = options_.boost;
    options.rounds = options_.spread_rounds;
    options.depth = std::min(options.depth, 4);
    options.min_child_weight = 5;
    options.threads = 1;
    std::vector<Spread> spreads(folds_.size());
    side_by_side(folds_.size(), options_.boost.threads, [&](size_t f) {
      if (!fitted_.held_out[f].empty()) spreads[f] = spread_without(f, options);
    });
    for (size_t f = 0; f < folds_.size(); ++f) {
      if (!spreads[f].trees) continue;
      for (size_t i = 0; i < spreads[f].sums.size(); ++i) {
        LogTime& held = fitted_.held_out[f][i];
        held.doubts.spread = spread_of(spreads[f].sums[i] + static_cast<double>(spreads[f].mean));
        if (set_.weights[static_cast<size_t>(folds_[f].test[i])] > 0)
          made.scores.push_back(error(f, i) / held.doubts.spread);
      }
      // A tree of one leaf carries the mean.
      Trees with_mean = std::move(*spreads[f].trees);
      with_mean.add({TreeNode{spreads[f].mean, -1, 0, 0, 0}});
      made.spreads.push_back(std::move(with_mean));
    }
  }

  const LearningSet& set_;
  const RegressorOptions& options_;
  std::vector<Fold> folds_;
  std::vector<int> learned_;
  FeatureRows rows_;
  std::vector<double> bases_, distances_;
  std::set<std::pair<size_t, size_t>> outside_;  ///< fold and test: beyond the range of the fold's training
  FittedRegressor fitted_;
};

}  // namespace

double log_roofline_us(const KernelCase& kernel) {
  return std::log(roofline_time(kernel.kernel, *kernel.sheet, kernel.threads, kernel.model.working_set).us);
}

double conformal_score(std::span<const double> scores, double level) {
  if (scores.empty()) return 0;
  const auto n = static_cast<double>(scores.size());
  const auto rank = static_cast<size_t>(std::ceil((n + 1) * level));
  if (rank > scores.size()) return scores.back() * kTooFew;
  return scores[std::max<size_t>(rank, 1) - 1];
}

double Regressor::score_at(double level) const { return conformal_score(scores, level); }

std::vector<LogTime> Regressor::log_times(std::span<const KernelCase* const> cases) const {
  return log_times(cases, rows_of(space, cases));
}

std::vector<LogTime> Regressor::log_times(std::span<const KernelCase* const> cases,
                                          const FeatureRows& rows) const {
  std::vector<double> sums = log_bases(cases, *this), spread(cases.size());
  Disagreement disagreement(cases.size());
  for (const Trees& each : members) {
    std::vector<double> its = each.sums(rows, 0, kDisagreeTrees);
    disagreement.add(its);
    const std::vector<double> rest = each.sums(rows, kDisagreeTrees);
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] += (its[i] + rest[i]) / static_cast<double>(members.size());
  }
  for (const Trees& each : spreads) {
    const std::vector<double> its = each.sums(rows);
    for (size_t i = 0; i < spread.size(); ++i) spread[i] += its[i] / static_cast<double>(spreads.size());
  }
  std::vector<LogTime> times;
  for (size_t i = 0; i < cases.size(); ++i)
    times.push_back({sums[i] + centre,
                     {.spread = spreads.empty() ? kMostSpread : spread_of(spread[i]),
                      .novelty = range.distance(rows.row(i)) / range.limit,
                      .disagreement = disagreement.of(i)}});
  return times;
}

KindLimits Regressor::limits_of(const std::string& kind) const {
  const auto at = kinds.find(kind);
  KindLimits all = at == kinds.end() ? KindLimits() : at->second;
  if (!source) return all;
  const KindLimits before = source->limits_of(kind);
  if (before.kernels == 0) return all;
  if (all.kernels == 0) return before;
  return {all.kernels + before.kernels, std::min(all.low, before.low), std::max(all.high, before.high),
          std::min(all.fastest, before.fastest)};
}

namespace {

/// What is known of a kernel of a kind that training has too little of.
TimePrediction by_roofline(const KernelCase& kernel, const std::string& kind, int64_t count) {
  TimePrediction one;
  one.us = std::exp(log_roofline_us(kernel));
  one.low_us = least_us(kernel);
  one.high_us = one.us * std::exp(kMostSpread);
  one.doubts = {.spread = kMostSpread, .novelty = kUnseenNovelty};
  one.too_few = kind_name(kind);
  one.out_of_range = "training has " + std::to_string(count) + " " + one.too_few + ", and needs " +
                     std::to_string(kLeastOfTrainedKind) + ": by the roofline";
  return one;
}

}  // namespace

std::vector<TimePrediction> Regressor::predict(std::span<const KernelCase* const> cases, double level) const {
  const FeatureRows rows = rows_of(space, cases);
  const std::vector<LogTime> times = log_times(cases, rows);
  const double score = score_at(level);
  std::vector<TimePrediction> all;
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::string kind = kind_of_kernel(*cases[i]);
    const KindLimits limits = limits_of(kind);
    if (limits.kernels < kLeastOfTrainedKind) {
      all.push_back(by_roofline(*cases[i], kind, limits.kernels));
      continue;
    }
    TimePrediction one;
    const double roofline = log_roofline_us(*cases[i]), least = limits.fastest * least_us(*cases[i]);
    one.us = std::max(least, std::exp(std::clamp(times[i].log_us, roofline + limits.low - kBeyond,
                                                 roofline + limits.high + kBeyond)));
    one.doubts = times[i].doubts;
    double& novelty = one.doubts.novelty;
    const double half = scores.empty() ? kMostSpread : std::min(kMostSpread, score * one.doubts.spread);
    one.low_us = std::max(least, one.us * std::exp(-half));
    one.high_us = one.us * std::exp(half);
    if (const std::string unseen = space.unseen(*cases[i]); !unseen.empty()) {
      one.out_of_range = "never seen in training: " + unseen;
      novelty = std::max(novelty, kUnseenNovelty);
    } else if (const std::string outside = range.outside(rows.row(i), space); !outside.empty()) {
      one.out_of_range = outside;
      novelty = std::max(novelty, kOutsideNovelty);
    } else if (novelty > 1) {
      one.out_of_range = "far from all kernels in training";
    }
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<std::pair<std::string, double>> Regressor::importance() const {
  std::vector<double> uses(space.size());
  for (const Trees& each : members) each.add_uses(uses);
  const double all = std::accumulate(uses.begin(), uses.end(), 0.0);
  std::vector<std::pair<std::string, double>> named;
  for (size_t i = 0; i < uses.size(); ++i)
    if (uses[i] > 0) named.emplace_back(space.features()[i].name, uses[i] / all);
  std::ranges::stable_sort(named, [](const auto& a, const auto& b) { return a.second > b.second; });
  return named;
}

int trees_to_fit(size_t folds, const RegressorOptions& options) {
  const auto n = static_cast<int>(folds);
  const int pairs = options.disagreement ? n * (n - 1) / 2 : 0;
  return n * (options.boost.rounds + options.spread_rounds) +
         pairs * std::min<int>(options.boost.rounds, kDisagreeTrees);
}

FittedRegressor fit_regressor(const LearningSet& set, std::span<const Fold> folds,
                              const RegressorOptions& options, std::shared_ptr<const Regressor> source) {
  return Fitting(set, folds, options, std::move(source)).run();
}

}  // namespace baton
