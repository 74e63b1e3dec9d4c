#pragma once
// Whether the core runs at its usual speed. Another hyperthread of the core may belong to another virtual
// machine: no counter of this one shows it, and code that fills the core takes 1.2 to 2 times as long
// meanwhile, for seconds at a time. Two loops of arithmetic show it: one that fills the core, and one of
// which each step waits for the one before, so that another hyperthread hardly slows it down. The clock
// changes both alike. (On processors of Intel it depends on what ran last: it is a fifth lower behind kernels
// of AVX-512.)
#include <cstddef>
#include <functional>
#include <vector>

namespace baton {

struct CoreReading {
  double filled_ns = 0;  ///< of the loop that fills the core, 2 to 5 us on a processor of today
  double chain_ns = 0;   ///< of the loop of dependent steps, about 1 us: the clock
};

/// The shorter of two times of each loop, some 8 us in all (Granite Rapids). The caches are left as they are.
CoreReading read_core();

/// What CorePace says of the core now.
struct CoreLook {
  // NOLINTNEXTLINE(google-explicit-constructor): tests say "slow" or "not slow" without a reading
  CoreLook(bool is_slow = false, double loop_ns = 0) : slow(is_slow), filled_ns(loop_ns) {}
  bool slow;
  double filled_ns;  ///< of the loop that fills the core; 0: not read
};

/// What is usual is learned from all readings so far, so that one object should live as long as the process.
class CorePace {
 public:
  explicit CorePace(std::function<CoreReading()> read = read_core) : read_(std::move(read)) {}

  /// Reads the core. Slow: it is shared with another hyperthread, or its clock is far lower than usual.
  CoreLook look();
  /// As look() learned them; 0 before the first readings.
  const CoreReading& usual() const { return usual_; }

 private:
  void learn(const CoreReading& reading);
  bool seems_slow() const;

  std::function<CoreReading()> read_;
  std::vector<CoreReading> readings_;  // the last kKept of them
  size_t next_ = 0, since_learned_ = 0;
  CoreReading last_, usual_;
};

/// By the CorePace of this process, which all measurements teach what is usual.
CoreLook look_at_core();

}  // namespace baton
