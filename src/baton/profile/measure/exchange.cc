#include "baton/profile/measure/exchange.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "baton/clock/estimate.h"
#include "baton/runtime/system/timers.h"
#include "baton/runtime/thread_pool.h"

namespace baton {

namespace {

constexpr int kSamples = 16, kTripsPerSample = 16;
constexpr int64_t kPatienceNs = 2'000'000;  // a thread that takes longer sleeps, or has no processor
constexpr double kDifferent = 1.6;          // measured: 140 to 160 ns in one cache, 400 to 530 in two

/// Iteration 0 asks, iteration 1 answers.
struct Exchange {
  alignas(64) std::atomic<uint32_t> asked{0};
  alignas(64) std::atomic<uint32_t> answered{0};
  alignas(64) std::atomic<bool> ready{false};
  std::atomic<bool> over{false};
  std::vector<double> trip_ns;

  void ask() {
    const int64_t limit = monotonic_ns() + kPatienceNs;
    const auto late = [&] { return monotonic_ns() > limit; };
    uint32_t trip = 0;
    while (!ready.load(std::memory_order_acquire) && !late()) {
    }
    for (int sample = 0; sample < kSamples && !late(); ++sample) {
      const int64_t begin = monotonic_ns();
      bool answers = true;
      for (int i = 0; i < kTripsPerSample && answers; ++i) {
        asked.store(++trip, std::memory_order_release);
        for (int spins = 0; answered.load(std::memory_order_acquire) != trip; ++spins)
          if (spins % 1024 == 1023 && late()) {
            answers = false;
            break;
          }
      }
      if (answers) trip_ns.push_back(static_cast<double>(monotonic_ns() - begin) / kTripsPerSample);
    }
    over.store(true, std::memory_order_release);
  }

  void answer() {
    ready.store(true, std::memory_order_release);
    uint32_t seen = 0;
    while (!over.load(std::memory_order_acquire)) {
      const uint32_t now = asked.load(std::memory_order_acquire);
      if (now != seen) answered.store(seen = now, std::memory_order_release);
    }
  }
};

int take_part(void*, int index, uint8_t* closure) {
  auto& exchange = *reinterpret_cast<Exchange*>(closure);
  index == 0 ? exchange.ask() : exchange.answer();
  return 0;
}

}  // namespace

std::optional<double> exchange_ns(int threads) {
  if (threads < 2) return std::nullopt;
  const ThreadScope scope(2);
  Exchange exchange;
  parallel_for(take_part, nullptr, 0, 2, reinterpret_cast<uint8_t*>(&exchange));
  if (exchange.trip_ns.empty()) return std::nullopt;
  return median(exchange.trip_ns);
}

bool distances_differ(double a_ns, double b_ns) {
  return std::max(a_ns, b_ns) > kDifferent * std::min(a_ns, b_ns);
}

}  // namespace baton
