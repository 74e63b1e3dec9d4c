#include "baton/codegen/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include "baton/codegen/background.h"
#include "baton/support/interrupt.h"

namespace baton {
namespace {

std::function<void(int, int)> kernels_progress(const BuildContext& context) {
  if (!context.progress) return {};
  return [progress = context.progress](int done, int total) { progress("kernels", done, total); };
}

/// State shared by the threads of one run_parallel. Outlives an interrupted caller.
struct Work {
  Work(int tasks, std::function<void(int)> run, const BuildContext& context, std::vector<int> kernels,
       int before)
      : count(tasks),
        task(std::move(run)),
        progress(kernels_progress(context)),
        sizes(std::move(kernels)),
        total(before + (sizes.empty() ? tasks : std::reduce(sizes.begin(), sizes.end()))),
        failed_index(tasks),
        done(before) {}

  const int count;
  const std::function<void(int)> task;
  const std::function<void(int, int)> progress;
  const std::vector<int> sizes;  // kernels per task
  const int total;               // of kernels
  std::atomic<int> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::condition_variable ended;  // a thread of `running` has ended
  std::exception_ptr failure;
  int failed_index, done, running = 0;
  bool abandoned = false;

  void run(const std::atomic<bool>* interrupt) {
    for (int index; !stop && !(interrupt && *interrupt) && (index = next++) < count;) {
      try {
        task(index);
        const std::lock_guard lock(mutex);
        done += sizes.empty() ? 1 : sizes[static_cast<size_t>(index)];
        if (progress && !abandoned) progress(done, total);
      } catch (...) {
        const std::lock_guard lock(mutex);
        stop = true;
        if (index < failed_index) failed_index = index, failure = std::current_exception();
      }
    }
  }
};

/// Counts detached threads.
class Background {
 public:
  static Background& instance() {
    static auto* const background = new Background;  // never destroyed: threads may still be exiting
    return *background;
  }
  void enter() {
    const std::lock_guard lock(mutex_);
    ++threads_;
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    if (--threads_ == 0) none_.notify_all();
  }

  void wait() {
    if (getpid() != process_) return;  // after fork, the child has none of these threads
    std::unique_lock lock(mutex_);
    none_.wait(lock, [this] { return threads_ == 0; });
  }

 private:
  const pid_t process_ = getpid();
  std::mutex mutex_;
  std::condition_variable none_;
  int threads_ = 0;
};

/// Runs `work` on threads that may be abandoned. True when all have ended, false when `interrupt` was set
/// first.
bool run_in_background(const std::shared_ptr<Work>& work, int threads, const std::atomic<bool>& interrupt) {
  if (interrupt) return false;
  work->running = threads;
  for (int i = 0; i < threads; ++i) {
    Background::instance().enter();
    std::thread([work = std::shared_ptr<Work>(work)]() mutable {
      work->run(nullptr);
      {
        const std::lock_guard lock(work->mutex);
        if (--work->running == 0) work->ended.notify_all();
      }
      work.reset();
      Background::instance().leave();
    }).detach();
  }
  std::unique_lock lock(work->mutex);
  while (work->running > 0) {
    if (interrupt) {
      work->stop = work->abandoned = true;
      return false;
    }
    work->ended.wait_for(lock, std::chrono::milliseconds(20));
  }
  return !interrupt;
}

void run_here(Work& work, int threads, const std::atomic<bool>* interrupt) {
  std::vector<std::thread> helpers;
  for (int i = 1; i < threads; ++i) helpers.emplace_back([&] { work.run(interrupt); });
  work.run(interrupt);
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace

int thread_count(const BuildContext& context) {
  return std::max(1, context.threads > 0 ? context.threads : context.host().cores);
}

void run_parallel(int count, const BuildContext& context, bool may_abandon, std::function<void(int)> task,
                  std::vector<int> sizes, int before) {
  const int threads = std::min(thread_count(context), std::max(1, count));
  const auto work = std::make_shared<Work>(count, std::move(task), context, std::move(sizes), before);
  bool interrupted = false;
  if (may_abandon && context.interrupt) {
    interrupted = !run_in_background(work, threads, *context.interrupt);
  } else {
    run_here(*work, threads, context.interrupt);
    interrupted = context.interrupt && *context.interrupt;
  }
  if (!interrupted && work->failure) std::rethrow_exception(work->failure);
  if (interrupted) throw Interrupted("interrupted while compiling kernels");
}

void wait_for_background_work() { Background::instance().wait(); }

}  // namespace baton
