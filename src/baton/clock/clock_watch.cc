#include "baton/clock/clock_watch.h"

#include <cmath>
#include <cstdio>

#include "baton/runtime/system/timers.h"

namespace baton {

namespace {

constexpr double kTolerance = 0.001;
constexpr double kSlackNs = 2000;   // the clocks cannot be read simultaneously
constexpr double kEnoughNs = 20e6;  // shorter intervals cannot show a drift of 0.1 %

}  // namespace

Clocks Clocks::of_this_machine() { return {fenced_ticks, monotonic_ns, baton::ns_per_tick()}; }

ClockWatch::ClockWatch(Clocks clocks) : clocks_(std::move(clocks)) {}

void ClockWatch::begin() {
  begin_.ns = clocks_.system_ns();
  begin_.ticks = clocks_.ticks();
  if (!first_) first_ = begin_;
}

std::optional<double> ClockWatch::end() {
  last_.ticks = clocks_.ticks();
  last_.ns = clocks_.system_ns();
  const double counted =
      static_cast<double>(static_cast<int64_t>(last_.ticks - begin_.ticks)) * clocks_.ns_per_tick;
  const double passed = static_cast<double>(last_.ns - begin_.ns);
  if (counted < 0 || std::abs(counted - passed) > passed * kTolerance + kSlackNs) {
    ++refused_;
    return std::nullopt;
  }
  return counted / 1e3;
}

double ClockWatch::drift() const {
  if (!first_) return 0;
  const auto passed = static_cast<double>(last_.ns - first_->ns);
  if (passed < kEnoughNs) return 0;
  return static_cast<double>(static_cast<int64_t>(last_.ticks - first_->ticks)) * clocks_.ns_per_tick /
             passed -
         1;
}

std::string ClockWatch::note(int intervals) const {
  char text[200] = "";
  if (refused_ > 0) {
    std::snprintf(
        text, sizeof text,
        "%d of %d runs were left out: the processor's time stamp counter stepped against the system's clock",
        refused_, intervals);
  } else if (std::abs(drift()) > kTolerance) {
    std::snprintf(
        text, sizeof text,
        "the processor's time stamp counter runs %.2f %% %s than the system's clock, and so do all times",
        std::abs(drift()) * 100, drift() > 0 ? "faster" : "slower");
  }
  return text;
}

}  // namespace baton
