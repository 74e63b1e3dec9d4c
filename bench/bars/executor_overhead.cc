// Bars of the runtime: what a call of a kernel and its profiling cost, on a plan of 10,000 kernels that do
// nothing. Prints `bar, measured, ok` and exits with 1 when one does not hold. CPU time, minimum over
// interleaved bursts.
#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "baton/runtime/executor.h"
#include "baton/runtime/marks.h"
#include "baton/runtime/system/allocator.h"
#include "baton/runtime/system/timers.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/base/checksum.h"
#include "baton/support/base/tensor_rule.h"

#include "bars/bar.h"
#include "bars/empty_chain.h"

namespace baton {
namespace {

constexpr int kBursts = 50;

using bars::kNodes;
using bars::report;

template <typename Work>
double cpu_ns(Work work) {
  const int64_t start = thread_cpu_ns();
  work();
  return static_cast<double>(thread_cpu_ns() - start);
}

template <typename Work>
double least_ns(int repeats, Work work) {
  double least = 1e300;
  for (int i = 0; i < repeats; ++i) least = std::min(least, cpu_ns(work));
  return least;
}

/// A task of 20 us.
int short_task(void* threads, int index, uint8_t*) {
  const int64_t end = monotonic_ns() + 20'000;
  while (monotonic_ns() < end) {
  }
  static_cast<std::thread::id*>(threads)[index] = std::this_thread::get_id();
  return 0;
}

int measure_executor() {
  const std::string text = bars::chain();
  const double parse_ms = least_ns(3, [&] { (void)Plan::parse(text); }) * 1e-6;
  const auto plan = Plan::parse(text);
  if (!plan.ok()) return std::fprintf(stderr, "%s\n", plan.status().message.c_str()), 1;
  const auto kernels = KernelLibrary::from_functions({{"nothing", bars::do_nothing}}, nullptr);
  auto created = Executor::create(*plan, kernels, {});
  if (!created.ok()) return std::fprintf(stderr, "%s\n", created.status().message.c_str()), 1;
  Executor& executor = **created;
  executor.set_threads(1);
  double plain = 1e300, profiled = 1e300, residual = 1e300;
  for (int burst = 0; burst < kBursts; ++burst) {
    plain = std::min(plain, cpu_ns([&] { (void)executor.run(); }));
    // Ten runs per call, so that what is set up once per call counts for little, as it does in a real
    // profile.
    profiled = std::min(profiled, cpu_ns([&] { (void)executor.run_profiled(10); }) / 10);
    const auto profile = executor.run_profiled(1);
    double sum = 0;
    for (const auto& row : profile->node_ns) sum += row[0];
    residual = std::min(residual, (profile->total_ns[0] - sum) / kNodes);
  }
  report("call of an empty kernel", 10, plain / kNodes, "ns");
  report("profiling, per node (on minus off)", 100, (profiled - plain) / kNodes, "ns");
  report("gap between kernels in a profile (the residual), per node", 50, residual, "ns");
  report("reading the plan of 10,000 nodes", 200, parse_ms, "ms");
  return 0;
}

void measure_services() {
  const double pair = least_ns(kBursts, [] {
    for (int i = 0; i < 1000; ++i) scratch_free(scratch_allocate(100000));
  });
  report("scratch memory, allocate and free", 50, pair / 1000, "ns");
  const double mark = least_ns(kBursts, [] {
    for (int i = 0; i < 1000; ++i) mark_fenced(i & 7);
  });
  report("stage marker", 40, mark / 1000, "ns");
  if (default_threads() > 1) {
    const ThreadScope scope(2);
    double least = 1e300;  // wall clock: the loop is on two threads
    for (int i = 0; i < 20000; ++i) {
      std::thread::id threads[2];
      const int64_t start = monotonic_ns();
      parallel_for(short_task, threads, 0, 2, nullptr);
      const auto took = static_cast<double>(monotonic_ns() - start);
      if (threads[0] != threads[1]) least = std::min(least, took);
    }
    if (least < 1e300) {
      report("parallel loop on 2 threads, beyond its two tasks", 5000, least - 20'000, "ns");
    } else {
      std::printf("parallel loop: not measured, other programs left no second processor free\n");
    }
  }
  const NDArray data = tensor_value("x", {1 << 24}, DType::float_(32));
  const double fill = least_ns(3, [] { tensor_value("x", {1 << 24}, DType::float_(32)); });
  report("tensor rule, float32, per element", 4, fill / (1 << 24), "ns");
  volatile uint64_t sum = 0;
  const double check = least_ns(3, [&] { sum = checksum64(data.data(), data.bytes()); });
  report("checksum of 1 GB", 250, check / static_cast<double>(data.bytes()) * 1e3, "ms");
}

}  // namespace
}  // namespace baton

int main() {
  const int status = baton::measure_executor();
  if (status != 0) return status;
  baton::measure_services();
  return baton::bars::all_hold ? 0 : 1;
}
