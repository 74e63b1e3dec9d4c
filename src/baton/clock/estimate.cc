#include "baton/clock/estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace baton {

namespace {

constexpr size_t kFewestSamples = 5;
constexpr size_t kGroups = 8;                           // of the samples of one process
constexpr double kFarDeviations = 5, kFarShare = 0.01;  // of outliers
// For samples beside other programs: the part that counts as the fastest, and how far above it others are
// alike.
constexpr double kFastest = 0.05, kAlike = 1.25;
// The middle of the samples: from here to there. Farther from the estimate than this part it says nothing.
constexpr double kMiddleFrom = 0.1, kMiddleTo = 0.75, kMostSpread = 0.5;

/// The continued fraction of the incomplete beta function (Lentz), as in Numerical Recipes, 6.4.
double beta_fraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300, kEnough = 1e-14;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), fraction = d;
  for (int m = 1; m < 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                 odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double change = 1;
    for (const double term : {even, odd}) {
      d = 1 / away_from_zero(1 + term * d);
      c = away_from_zero(1 + term / c);
      change = d * c;
      fraction *= change;
    }
    if (std::abs(change - 1) < kEnough) break;
  }
  return fraction;
}

double incomplete_beta(double x, double a, double b) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log(1 - x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(x, a, b) / a
                                   : 1 - front * beta_fraction(1 - x, b, a) / b;
}

/// Other programs ran all the time.
Estimate beside_others(const std::vector<RoundSamples>& rounds, const std::string& why, int contending) {
  const LeastDisturbed candidates = least_disturbed(rounds);
  Estimate found;
  found.under_load = why;
  found.interrupted = candidates.interrupted;
  for (const std::vector<double>& round : candidates.rounds) {
    found.samples_us.insert(found.samples_us.end(), round.begin(), round.end());
    if (!round.empty()) found.rounds_us.push_back(least_disturbed_us(round));
  }
  // Not by round: some have no undisturbed sample, and say nothing of the others.
  found.us = least_disturbed_us(found.samples_us);
  found.plus_minus_us = apart_from_quiet(found.samples_us, found.us, candidates.interrupted, contending);
  return found;
}

}  // namespace

std::vector<double> kept_of(const RoundSamples& samples) {
  std::vector<double> kept;
  for (size_t i = 0; i < samples.us.size(); ++i)
    if (!samples.disturbed[i]) kept.push_back(samples.us[i]);
  return kept;
}

std::pair<std::vector<double>, size_t> grouped(const std::vector<double>& kept, const Wanted& wanted) {
  const auto medians_of = [&](size_t group) {
    std::vector<double> medians;
    for (auto at = kept.begin(); kept.end() - at >= static_cast<std::ptrdiff_t>(group);
         at += static_cast<std::ptrdiff_t>(group))
      medians.push_back(median({at, at + static_cast<std::ptrdiff_t>(group)}));
    return medians;
  };
  const size_t least = std::max<size_t>(wanted.samples, 1),
               group = std::max<size_t>(1, kept.size() / std::max(kMostGroups, least));
  std::vector<double> medians = medians_of(group);
  const size_t larger = std::max(group, kept.size() / least);
  if (larger == group || coefficient_of_variation(medians) <= wanted.cv) return {std::move(medians), group};
  return {medians_of(larger), larger};
}

bool enough(const std::vector<RoundSamples>& rounds, const Wanted& wanted) {
  std::vector<double> kept;
  for (const RoundSamples& round : rounds)
    for (size_t i = 0; i < round.us.size(); ++i) {
      if (round.disturbed[i]) continue;
      if (round.slow[i]) return false;
      kept.push_back(round.us[i]);
    }
  return kept.size() >= wanted.samples && coefficient_of_variation(grouped(kept, wanted).first) <= wanted.cv;
}

LeastDisturbed least_disturbed(const std::vector<RoundSamples>& rounds) {
  const auto chosen = [&](auto counts) {
    std::vector<std::vector<double>> found;
    size_t count = 0;
    for (const RoundSamples& round : rounds) {
      found.emplace_back();
      for (size_t i = 0; i < round.us.size(); ++i)
        if (counts(round, i)) found.back().push_back(round.us[i]);
      count += found.back().size();
    }
    return std::pair(std::move(found), count);
  };
  size_t all = 0;
  for (const RoundSamples& round : rounds) all += round.us.size();
  const size_t least = std::min(kFewestSamples, (all + 1) / 2);
  auto [usual, usual_count] =
      chosen([](const RoundSamples& round, size_t i) { return !round.held[i] && !round.slow[i]; });
  if (usual_count >= least) return {std::move(usual), false};
  auto [whole, whole_count] = chosen([](const RoundSamples& round, size_t i) { return !round.held[i]; });
  if (whole_count >= least) return {std::move(whole), false};
  LeastDisturbed rest{{}, true};
  for (const RoundSamples& round : rounds) {
    rest.rounds.emplace_back();
    for (size_t i = 0; i < round.us.size(); ++i)
      rest.rounds.back().push_back(round.computed_us[i] > 0 ? round.computed_us[i] : round.us[i]);
  }
  return rest;
}

int contending_threads(int threads, double others, int processors) {
  return threads > 1 && threads + others > processors ? threads : 1;
}

double apart_from_quiet(const std::vector<double>& samples, double us, bool interrupted, int contending) {
  const double spread =
      std::clamp(std::max(percentile(samples, kMiddleTo) - us, us - percentile(samples, kMiddleFrom)), 0.0,
                 kMostSpread * us);
  const double away = (1 - 1.0 / contending) * us;
  return std::hypot(std::max(spread, away), (interrupted ? kInterrupted : kBesideOthers) * us);
}

double least_disturbed_us(std::vector<double> us) {
  if (us.empty()) return 0;
  std::ranges::sort(us);
  const double most = kAlike * percentile(us, kFastest);
  us.resize(static_cast<size_t>(std::ranges::upper_bound(us, most) - us.begin()));
  return median(std::move(us));
}

double coefficient_of_variation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  double sum = 0;
  for (double v : values) sum += v;
  const double mean = sum / static_cast<double>(values.size());
  return mean > 0 ? standard_deviation(values) / mean : 0;
}

double student_outside(double t, double degrees) {
  return degrees > 0 ? incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5) : 1;
}

double student_quantile(double p, double degrees) {
  if (degrees <= 0) return std::numeric_limits<double>::infinity();
  double low = 0, high = 1;
  while (student_outside(high, degrees) > p && high < 1e12) high *= 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (student_outside(middle, degrees) > p ? low : high) = middle;
  }
  return high;
}

double student_95(double degrees) { return student_quantile(0.05, degrees); }

double standard_deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  double sum = 0, squares = 0;
  for (double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  for (double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::optional<double> rounds_interval(const std::vector<double>& rounds) {
  if (rounds.size() < kFewestRounds) return std::nullopt;
  const auto count = static_cast<double>(rounds.size());
  return student_95(count - 1) * standard_deviation(rounds) * std::sqrt(2 * kMedianVariance / count);
}

std::vector<uint32_t> outliers_of(const std::vector<double>& values) {
  std::vector<uint32_t> far;
  if (values.size() < kFewestSamples) return far;
  const double middle = median(values);
  const double limit = std::max(kFarDeviations * robust_deviation(values), kFarShare * middle);
  for (uint32_t i = 0; i < values.size(); ++i)
    if (std::abs(values[i] - middle) > limit) far.push_back(i);
  return far;
}

double core_ns_of(const std::vector<RoundSamples>& rounds) {
  std::vector<double> counted, all;
  for (const RoundSamples& round : rounds)
    for (size_t i = 0; i < round.us.size(); ++i) {
      if (round.core_ns[i] <= 0) continue;
      all.push_back(round.core_ns[i]);
      if (!round.disturbed[i]) counted.push_back(round.core_ns[i]);
    }
  std::vector<double>& of = counted.empty() ? all : counted;
  if (of.empty()) return 0;
  std::ranges::sort(of);
  const auto quarter = static_cast<std::ptrdiff_t>(of.size() / 4);
  const auto begin = of.begin() + quarter, end = of.end() - quarter;
  return std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
}

void leave_out_slow(std::vector<RoundSamples>& rounds) {
  size_t usual = 0, in_rounds = 0;
  for (const RoundSamples& round : rounds) {
    size_t here = 0;
    for (size_t i = 0; i < round.us.size(); ++i) here += !round.disturbed[i] && !round.slow[i];
    usual += here;
    in_rounds += here > 0;
  }
  if (usual < kFewestSamples || in_rounds < std::min(kFewestRounds, rounds.size())) return;
  for (RoundSamples& round : rounds)
    for (size_t i = 0; i < round.us.size(); ++i)
      if (round.slow[i]) round.disturbed[i] = true;
}

Estimate estimate(const std::vector<RoundSamples>& rounds, const std::string& why, int contending) {
  Estimate found;
  std::vector<double> all;
  for (const RoundSamples& round : rounds) {
    std::vector<double> kept;
    for (size_t i = 0; i < round.us.size(); ++i)
      (round.disturbed[i] ? found.disturbed_us : kept).push_back(round.us[i]);
    all.insert(all.end(), round.us.begin(), round.us.end());
    found.samples_us.insert(found.samples_us.end(), kept.begin(), kept.end());
    if (!kept.empty()) found.rounds_us.push_back(median(std::move(kept)));
  }
  // Fewer than three rounds do not tell how far another process is.
  const auto taken = static_cast<size_t>(
      std::ranges::count_if(rounds, [](const RoundSamples& round) { return !round.us.empty(); }));
  const bool too_few = found.samples_us.size() < std::min(kFewestSamples, (all.size() + 1) / 2) ||
                       found.rounds_us.size() < std::min(kFewestRounds, taken);
  if (!all.empty() && too_few) found = beside_others(rounds, why, contending);
  found.left_out = all.size() - found.samples_us.size();
  found.core_ns = core_ns_of(rounds);
  if (!all.empty() && too_few) return found;
  found.us = median(found.rounds_us);
  if (const auto within = rounds_interval(found.rounds_us))
    found.plus_minus_us = std::hypot(*within, std::sqrt(2) * kBetweenProcesses * found.us);
  return found;
}

Estimate estimate_of_one_process(const std::vector<double>& samples_us) {
  const size_t groups = std::clamp<size_t>(samples_us.size() / 2, 1, kGroups);
  std::vector<RoundSamples> rounds(groups);
  for (size_t i = 0; i < samples_us.size(); ++i)
    rounds[i * groups / samples_us.size()].add(samples_us[i], false);
  Estimate found = estimate(rounds, "");
  if (found.plus_minus_us) found.plus_minus_us = std::hypot(*found.plus_minus_us, kOneProcess * found.us);
  return found;
}

}  // namespace baton
