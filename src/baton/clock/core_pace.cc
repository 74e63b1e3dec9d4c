#include "baton/clock/core_pace.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "baton/runtime/system/timers.h"
#include "baton/support/base/statistics.h"

namespace baton {

namespace {

constexpr int kIterations = 1000, kChainSteps = 700;
constexpr int kLooks = 3;
constexpr size_t kKept = 8192, kFirst = 64, kLearnEvery = 512;
constexpr double kUsual = 0.1;  // percentile: a disturbed machine is at its usual speed now and then
// On a core that nobody else uses most ratios of the loops are within one percent; the first loop alone takes
// 1.2 times as long or more on others.
constexpr double kShared = 1.1;
// Behind AVX-512 all takes 1.2 times as long (Granite Rapids): only a throttled processor is as slow as this.
constexpr double kThrottled = 1.6;

// As every processor has them.
using Lanes = float __attribute__((vector_size(16)));
constexpr Lanes kFactor = {0.999F, 0.998F, 0.997F, 0.996F};

/// Sums in the first-level cache: each step loads, computes and stores, so that all of a core's units are
/// busy.
double filled_ns() {
  Lanes sums[8];
  for (int i = 0; i < 8; ++i) sums[i] = Lanes{1, 2, 3, 4} + static_cast<float>(i);
  const int64_t begin = monotonic_ns();
  for (int n = 0; n < kIterations; ++n) {
    // As a loop it takes 7 % longer at some addresses, so that programs did not agree on one core.
#pragma GCC unroll 8
    for (Lanes& sum : sums) {
      sum = sum * kFactor + kFactor;
      asm volatile("" : "+m"(sum));
    }
  }
  return static_cast<double>(monotonic_ns() - begin);
}

double chain_ns() {
  Lanes sum{1, 2, 3, 4};
  const int64_t begin = monotonic_ns();
  for (int n = 0; n < kChainSteps; ++n) {
    sum = sum * kFactor + kFactor;
    asm volatile("" : "+x"(sum));
  }
  return static_cast<double>(monotonic_ns() - begin);
}

double share(const CoreReading& reading) {
  return reading.chain_ns > 0 ? reading.filled_ns / reading.chain_ns : 0;
}

}  // namespace

CoreReading read_core() {
  const CoreReading first{filled_ns(), chain_ns()};
  return {std::min(first.filled_ns, filled_ns()), std::min(first.chain_ns, chain_ns())};
}

CoreLook CorePace::look() {
  while (readings_.size() < kFirst) learn(read_());
  // A processor that changes its clock behind a kernel stands still for a microsecond or two meanwhile, and
  // some (Granite Rapids) take several times as long for the first thing after it: over at the next look.
  bool slow = true;
  for (int i = 0; i < kLooks && slow; ++i) {
    last_ = read_();
    slow = seems_slow();
  }
  learn(last_);
  return {slow, last_.filled_ns};
}

bool CorePace::seems_slow() const {
  return share(last_) > kShared * share(usual_) || last_.chain_ns > kThrottled * usual_.chain_ns;
}

CoreLook look_at_core() {
  static std::mutex mutex;
  static CorePace pace;
  const std::scoped_lock lock(mutex);
  return pace.look();
}

void CorePace::learn(const CoreReading& reading) {
  if (readings_.size() < kKept) {
    readings_.push_back(reading);
    next_ = 0;
  } else {
    readings_[next_] = reading;
    next_ = (next_ + 1) % kKept;
  }
  if (++since_learned_ < kLearnEvery && readings_.size() != kFirst && usual_.filled_ns > 0) return;
  since_learned_ = 0;
  const auto usual = [&](auto value) {
    std::vector<double> values(readings_.size());
    std::ranges::transform(readings_, values.begin(), value);
    return percentile(std::move(values), kUsual);
  };
  usual_.chain_ns = usual(&CoreReading::chain_ns);
  usual_.filled_ns = usual_.chain_ns * usual(share);
}

}  // namespace baton
