#include "baton/profile/conditions/core_pace.h"

#include <algorithm>
#include <mutex>

#include "baton/runtime/timers.h"

namespace baton {

namespace {

constexpr int kIterations = 1000;
constexpr size_t kKept = 8192, kFirst = 64, kLearnEvery = 512;
constexpr double kUsual = 0.1;  // quantile: a disturbed machine is at its usual speed now and then
// Changes of the clock are within some percent; a shared core is 1.2 times as slow or more.
constexpr double kSlow = 1.1;

// As every processor has them; sums of eight fill two units of four cycles each.
using Lanes = float __attribute__((vector_size(16)));

}  // namespace

double core_loop_ns() {
  Lanes sums[8];
  for (int i = 0; i < 8; ++i) sums[i] = Lanes{1, 2, 3, 4} + static_cast<float>(i);
  const Lanes factor = {0.999F, 0.998F, 0.997F, 0.996F};
  const int64_t begin = monotonic_ns();
  for (int n = 0; n < kIterations; ++n)
    for (Lanes& sum : sums) {
      sum = sum * factor + factor;
      asm volatile("" : "+x"(sum));
    }
  return static_cast<double>(monotonic_ns() - begin);
}

bool CorePace::is_slow() {
  do learn(last_ns_ = read_());
  while (readings_.size() < kFirst);
  return last_ns_ > kSlow * usual_ns_;
}

bool core_is_slow() {
  static std::mutex mutex;
  static CorePace pace;
  const std::scoped_lock lock(mutex);
  return pace.is_slow();
}

void CorePace::learn(double ns) {
  if (readings_.size() < kKept) {
    readings_.push_back(ns);
    next_ = 0;
  } else {
    readings_[next_] = ns;
    next_ = (next_ + 1) % kKept;
  }
  if (++since_learned_ < kLearnEvery && readings_.size() != kFirst && usual_ns_ > 0) return;
  since_learned_ = 0;
  std::vector<double> sorted = readings_;
  const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(kUsual * static_cast<double>(sorted.size()));
  std::ranges::nth_element(sorted, at);
  usual_ns_ = *at;
}

}  // namespace baton
