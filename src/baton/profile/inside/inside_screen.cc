#include "baton/profile/inside/inside_screen.h"

#include <algorithm>
#include <cmath>

#include "baton/profile/measure/measure.h"

namespace baton {

namespace {

// The tolerated deviation of a variant from its other rounds: at least this, and this many times the median
// deviation.
constexpr double kLeastDeviation = 0.1, kDeviations = 8;
// Rounds with few variants are also compared with neighbouring rounds.
constexpr size_t kEnoughVariants = 3, kNeighbours = 5;

std::vector<double> variants_of(const InsideRound& round) {
  std::vector<double> us = {round.plain_us};
  for (double other : {round.twin_us, round.marked_us, round.doubled_us})
    if (other != 0) us.push_back(other);
  us.insert(us.end(), round.ablated_us.begin(), round.ablated_us.end());
  return us;
}

bool stepped(const InsideRound& round, int threads) {
  if (round.clock_stepped || round.empty_us < 0) return true;
  for (double us : variants_of(round))
    if (!(us > 0) || !std::isfinite(us)) return true;
  double sum = 0;
  for (double us : round.site_us) {
    if (us < 0 || !std::isfinite(us)) return true;
    sum += us;
  }
  return sum > 1.05 * threads * round.marked_us + 1;
}

// quotients[round][variant]: its time over the variant's median.
std::vector<std::vector<double>> against_medians(const std::vector<InsideRound>& rounds) {
  std::vector<std::vector<double>> quotients;
  for (const InsideRound& round : rounds) quotients.push_back(variants_of(round));
  for (size_t v = 0; v < quotients[0].size(); ++v) {
    std::vector<double> values;
    for (const auto& round : quotients) values.push_back(round[v]);
    const double middle = median(std::move(values));
    for (auto& round : quotients) round[v] /= middle;
  }
  return quotients;
}

// The relative clock speed of a round: what its variants have in common, and with few variants the
// neighbouring rounds too.
double pace(const std::vector<std::vector<double>>& quotients, size_t round) {
  if (quotients[round].size() >= kEnoughVariants) return median(quotients[round]);
  const size_t first = round > kNeighbours ? round - kNeighbours : 0,
               last = std::min(quotients.size() - 1, round + kNeighbours);
  std::vector<double> values;
  for (size_t i = first; i <= last; ++i)
    values.insert(values.end(), quotients[i].begin(), quotients[i].end());
  return median(std::move(values));
}

}  // namespace

RoundTally screen_rounds(std::vector<InsideRound>& rounds, int threads) {
  RoundTally tally;
  tally.measured = rounds.size();
  std::erase_if(rounds, [&](const InsideRound& round) { return stepped(round, threads); });
  tally.stepped = tally.measured - rounds.size();
  if (rounds.empty()) return tally;
  const auto quotients = against_medians(rounds);
  std::vector<double> worst(rounds.size(), 0), all;
  for (size_t i = 0; i < rounds.size(); ++i) {
    const double scale = pace(quotients, i);
    for (double quotient : quotients[i]) {
      all.push_back(std::abs(quotient / scale - 1));
      worst[i] = std::max(worst[i], all.back());
    }
    if (rounds[i].held) worst[i] = 1e300;
  }
  const double limit = std::max(kLeastDeviation, kDeviations * median(all));
  const auto disturbed =
      static_cast<size_t>(std::count_if(worst.begin(), worst.end(), [&](double w) { return w > limit; }));
  if (disturbed * 2 > rounds.size()) {
    tally.restless = true;
    return tally;
  }
  size_t at = 0;
  std::erase_if(rounds, [&](const InsideRound&) { return worst[at++] > limit; });
  tally.disturbed = disturbed;
  return tally;
}

}  // namespace baton
