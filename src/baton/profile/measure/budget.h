#pragma once
// The time that a profile may take. Compiling does not count.
#include <cstdint>
#include <functional>
#include <limits>

namespace baton {

class Budget {
 public:
  using Clock = std::function<int64_t()>;  ///< nanoseconds

  /// Without a limit.
  Budget() = default;
  explicit Budget(double seconds, Clock now = {});

  bool limited() const { return seconds_ < std::numeric_limits<double>::infinity(); }
  /// Seconds used, without pauses.
  double used() const;
  /// Seconds left beyond those reserved, >= 0.
  double left() const;
  /// Keeps this time for what comes later.
  void reserve(double seconds) { reserved_s_ = seconds; }
  bool spent() const { return left() <= 0; }

  /// RAII: time does not count while one is alive (for compiling). Null: nothing.
  class Pause {
   public:
    explicit Pause(Budget* budget);
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    Budget* budget_;
  };

 private:
  int64_t now() const;

  double seconds_ = std::numeric_limits<double>::infinity();
  Clock clock_ = {};
  int64_t start_ = 0, paused_ = 0;
  int64_t pause_since_ = 0;
  double reserved_s_ = 0;
  int pauses_ = 0;  ///< nested
};

/// Divides `left` among what is still to be measured: the share of the first by its weight of all, at least
/// `least`, at most `wish`.
double budget_share(double left, double weight, double all_weights, double least, double wish);

}  // namespace baton
