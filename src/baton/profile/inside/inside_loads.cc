// Per-thread loads of a kernel.
#include <algorithm>

#include "baton/profile/inside/inside_split.h"
#include "baton/profile/measure/measure.h"

namespace baton {

namespace {

// A utilisation above this means that marks disturb the threads.
constexpr double kMostBusy = 1.05;

}  // namespace

void add_loads(InsideTimes& times, const InsideSubject& subject, const std::vector<InsideRound>& rounds,
               int threads) {
  times.threads = threads;
  std::vector<double> plain;
  for (const InsideRound& round : rounds) plain.push_back(round.plain_us);
  times.threads_us = median(std::move(plain));
  times.loads.clear();
  for (size_t i : in_order(subject)) {
    const double part = stage_share(rounds, i);
    times.loads.push_back({stage_text(subject.marks[i]), blocks_of(subject, subject.marks[i]),
                           std::max(0.0, part) * times.threads_us});
  }
}

void share_loads(InsideTimes& times) {
  const double busy = times.busy_us();
  if (times.loads.size() < 2 || busy <= 0) return;
  const auto stays = [&](const char* why) {
    times.fallback += (times.fallback.empty() ? "" : "; ") + std::string("shares are of one thread: ") + why;
  };
  if (times.threads_tally.restless) return stays("something else ran beside several");
  if (times.utilisation() > kMostBusy) return stays("marks disturb several");
  std::vector<double> stage(times.loads.size(), 0);
  std::vector<size_t> of_part;
  for (size_t i = 0, at = 0; i < times.parts.size(); ++i) {
    if (at == stage.size()) return stays("its stages were sampled");
    of_part.push_back(at);
    stage[at] += times.parts[i].share;
    if (times.parts[i].method == InsideMethod::kAblation) continue;  // precedes the rest of its stage
    if (times.parts[i].stage != times.loads[at].stage) return stays("its stages were sampled");
    ++at;
  }
  for (size_t i = 0; i < times.parts.size(); ++i) {
    InsidePart& part = times.parts[i];
    const double share = times.loads[of_part[i]].busy_us / busy;
    if (stage[of_part[i]] > 0)
      part.share *= share / stage[of_part[i]];
    else if (part.method != InsideMethod::kAblation)
      part.share = share;
    if (part.method != InsideMethod::kAblation) part.below_noise = part.share <= 0;
  }
}

double InsideTimes::busy_us() const {
  double sum = 0;
  for (const StageLoad& load : loads) sum += load.busy_us;
  return sum;
}

double InsideTimes::utilisation() const {
  return threads > 1 && threads_us > 0 ? busy_us() / (threads * threads_us) : 1;
}

}  // namespace baton
