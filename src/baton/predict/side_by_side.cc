#include "baton/predict/side_by_side.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace baton {

void side_by_side(size_t count, int threads, FunctionRef<void(size_t)> make) {
  std::atomic<size_t> next = 0;
  std::mutex guard;
  std::exception_ptr failed;
  const auto work = [&] {
    for (size_t i = next++; i < count; i = next++) {
      try {
        make(i);
      } catch (...) {
        const std::lock_guard lock(guard);
        if (!failed) failed = std::current_exception();
      }
    }
  };
  std::vector<std::thread> helpers;
  for (size_t i = 1; i < std::min(count, static_cast<size_t>(std::max(1, threads))); ++i)
    helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  if (failed) std::rethrow_exception(failed);
}

}  // namespace baton
