#pragma once
// Whether the clock of a measurement can be trusted: times are read from the processor's time stamp counter,
// and held against the system's monotonic clock, which never steps.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace baton {

/// Where times come from; tests bring their own.
struct Clocks {
  std::function<uint64_t()> ticks;
  std::function<int64_t()> system_ns;
  double ns_per_tick = 1;

  /// The time stamp counter and CLOCK_MONOTONIC.
  static Clocks of_this_machine();
};

/// Times intervals, and refuses those in which the two clocks disagree.
class ClockWatch {
 public:
  explicit ClockWatch(Clocks clocks);

  void begin();
  /// Microseconds since begin(); nothing when the counter went backwards, or when it and the system's clock
  /// differ by more than 0.1 % of the interval and 2 us.
  std::optional<double> end();
  /// An interval that was found wrong by other means counts as refused too.
  void refuse() { ++refused_; }

  int refused() const { return refused_; }
  /// From the first begin() to the last end(): how much faster the counter ran than the system's clock, as a
  /// fraction.
  double drift() const;
  /// For a reader: "12 of 340 runs were left out: ..."; empty when there is nothing to say.
  std::string note(int intervals) const;

 private:
  struct Instant {
    uint64_t ticks;
    int64_t ns;
  };
  Clocks clocks_;
  std::optional<Instant> first_;
  Instant begin_{}, last_{};
  int refused_ = 0;
};

}  // namespace baton
