#include "baton/clock/windows.h"

#include <algorithm>

#include "baton/runtime/system/timers.h"

namespace baton {

namespace {

// /proc/stat counts in steps of 10 ms. What is shorter than the second is judged with the next window, and at
// the end where it is not shorter than the third.
constexpr double kWindowS = 0.3, kLeastS = 0.25, kLeastAtEndS = 0.1;
constexpr double kMostOfTheTime = 0.7;

}  // namespace

void DisturbanceWindows::restart(const std::vector<bool>& disturbed) {
  for (Tracked& each : tracked_)
    if (each.disturbed == &disturbed) each.from = 0;
}

void DisturbanceWindows::tick() {
  if (seconds_since(begin_ns_) + unjudged_.seconds >= kWindowS) close();
}

void DisturbanceWindows::pause() {
  if (!paused_) close();
  paused_ = true;
}

void DisturbanceWindows::resume() {
  before_ = system_();
  begin_ns_ = monotonic_ns();
  paused_ = false;
}

void DisturbanceWindows::finish() {
  pause();
  judge(unjudged_.seconds >= kLeastAtEndS ? unjudged_.any() : last_disturbed_);
}

bool DisturbanceWindows::always_disturbed() const { return disturbed_s_ > kMostOfTheTime * judged_s_; }

void DisturbanceWindows::close() {
  const SystemReading now = system_();
  const Disturbance what = disturbance(before_, now);
  sum_ += what;
  unjudged_ += what;
  before_ = now;
  begin_ns_ = monotonic_ns();
  if (unjudged_.seconds >= kLeastS || unjudged_.by_quota()) judge(unjudged_.any());
}

void DisturbanceWindows::judge(bool are_disturbed) {
  last_disturbed_ = are_disturbed;
  judged_s_ += unjudged_.seconds;
  if (are_disturbed) disturbed_s_ += unjudged_.seconds;
  for (Tracked& each : tracked_) {
    if (are_disturbed)
      std::fill(each.disturbed->begin() + static_cast<std::ptrdiff_t>(each.from), each.disturbed->end(),
                true);
    each.from = each.disturbed->size();
  }
  unjudged_ = {};
}

}  // namespace baton
