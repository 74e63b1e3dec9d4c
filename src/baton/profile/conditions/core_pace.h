#pragma once
// Whether the core runs at its usual speed. Another hyperthread of the core may belong to another virtual
// machine: no counter of this one shows it, and code that fills the core takes 1.2 to 2 times as long
// meanwhile, for seconds at a time. A loop of arithmetic in registers shows it, and leaves the caches as they
// are.
#include <cstddef>
#include <functional>
#include <vector>

namespace baton {

/// Nanoseconds of the loop: 2 to 5 us on a processor of today.
double core_loop_ns();

/// What is usual is learned from all readings so far, so that one object should live as long as the process.
class CorePace {
 public:
  explicit CorePace(std::function<double()> read = core_loop_ns) : read_(std::move(read)) {}

  /// Reads the loop's time. True: it is longer than usual, or too few readings are known to tell.
  bool is_slow();
  /// Of the loop, in nanoseconds: the reading that is_slow() judged last; 0 before the first.
  double last_ns() const { return last_ns_; }
  /// Of the loop, in nanoseconds; 0 before the first readings.
  double usual_ns() const { return usual_ns_; }

 private:
  void learn(double ns);

  std::function<double()> read_;
  std::vector<double> readings_;  // the last kKept of them
  size_t next_ = 0, since_learned_ = 0;
  double last_ns_ = 0, usual_ns_ = 0;
};

/// CorePace::is_slow() of this process, which all measurements teach what is usual.
bool core_is_slow();

}  // namespace baton
