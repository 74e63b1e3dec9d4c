#pragma once
// Judges samples by what the system counted while they were taken, a third of a second at a time.
#include <cstdint>
#include <vector>

#include "baton/clock/disturbance.h"

namespace baton {

/// Windows that are too short for what /proc/stat counts are judged together with the next one. Begins
/// paused.
class DisturbanceWindows {
 public:
  explicit DisturbanceWindows(SystemSource system) : system_(std::move(system)) {}

  /// `disturbed`: a mark per sample of one series, of which those count from now on. It must stay where it
  /// is.
  void track(std::vector<bool>& disturbed) { tracked_.push_back({&disturbed, disturbed.size()}); }
  /// The series was emptied.
  void restart(const std::vector<bool>& disturbed);
  /// After each sample.
  void tick();
  /// What happens from here to resume() does not count.
  void pause();
  void resume();
  /// No more samples for now: a window that is too short to be judged is taken for what the one before it
  /// was.
  void finish();

  const Disturbance& sum() const { return sum_; }
  bool last_disturbed() const { return last_disturbed_; }
  /// In most windows so far: more samples will not find a quiet machine.
  bool always_disturbed() const;

 private:
  struct Tracked {
    std::vector<bool>* disturbed;
    size_t from;  // not judged yet
  };
  void close();
  void judge(bool are_disturbed);

  SystemSource system_;
  SystemReading before_;
  int64_t begin_ns_ = 0;
  bool paused_ = true, last_disturbed_ = false;
  Disturbance sum_, unjudged_;
  double judged_s_ = 0, disturbed_s_ = 0;
  std::vector<Tracked> tracked_;
};

}  // namespace baton
