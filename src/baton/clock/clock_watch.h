#pragma once
// Validates the measurement clock: the CPU's time stamp counter is compared with the system's monotonic
// clock, which never steps.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace baton {

/// The clock sources; replaceable in tests.
struct Clocks {
  std::function<uint64_t()> ticks;
  std::function<int64_t()> system_ns;
  double ns_per_tick = 1;

  /// The time stamp counter and CLOCK_MONOTONIC.
  static Clocks of_this_machine();
};

/// Times intervals, and rejects those in which the two clocks disagree.
class ClockWatch {
 public:
  explicit ClockWatch(Clocks clocks);

  void begin();
  /// Microseconds since begin(); nullopt when the counter went backwards, or when it and the system's clock
  /// differ by more than 0.1 % of the interval and 2 us.
  std::optional<double> end();
  /// Counts an interval found invalid by other means as rejected.
  void refuse() { ++refused_; }

  int refused() const { return refused_; }
  /// The relative drift of the counter against the system's clock, from the first begin() to the last end().
  double drift() const;
  /// A note for the user: "12 of 340 runs were left out: ..."; empty when there is nothing to report.
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
