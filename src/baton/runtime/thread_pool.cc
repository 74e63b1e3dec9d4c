#include "baton/runtime/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "baton/runtime/loop_recorder.h"
#include "baton/runtime/system/timers.h"
#include "baton/support/base/environment.h"

namespace baton {
namespace {

constexpr int kMaxLoops = 16;  // concurrent loops of different callers; further callers run serially

// How long to spin before sleeping. A futex wake-up costs the caller some microseconds and the sleeper up to
// 50 in a virtual machine, so threads should not sleep between the loops of one run.
constexpr int64_t kPureSpinNs = 20'000;  // then the CPU is yielded between checks
constexpr int64_t kIdleSpinNs = 200'000;
constexpr int64_t kRunSpinNs = 10'000'000;

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Spins first, then yields between checks.
class Waiter {
 public:
  /// Nanoseconds since the first call.
  int64_t step() {
    for (int i = 0; i < 16; ++i) pause();
    const int64_t now = monotonic_ns();
    if (start_ == 0) start_ = now;
    const int64_t waited = now - start_;
    if (waited > kPureSpinNs) sched_yield();
    return waited;
  }

 private:
  int64_t start_ = 0;
};

/// The initial iterations of one thread. A cache line each, since its owner writes it frequently.
struct alignas(64) Range {
  std::atomic<int> next{0};
  int end = 0;
};

/// A parallel loop in progress. Loops are never freed, so a late thread may access a finished one: it finds
/// no ticket and leaves.
struct Loop {
  std::atomic<bool> taken{false};
  ParallelTask task = nullptr;
  void* user = nullptr;
  uint8_t* closure = nullptr;
  int min = 0;
  int parts = 0;
  LoopRecorder* recorder = nullptr;
  // Tickets (threads that may still join) in the upper half, threads inside in the lower half.
  alignas(64) std::atomic<uint32_t> state{0};
  std::atomic<int> error{0};
  Range ranges[kMaxThreads];

  static constexpr uint32_t kTicket = 1u << 16;

  bool join() {
    uint32_t seen = state.load(std::memory_order_relaxed);
    while (seen >= kTicket) {
      if (state.compare_exchange_weak(seen, seen - kTicket + 1, std::memory_order_acquire)) return true;
    }
    return false;
  }

  void leave() { state.fetch_sub(1, std::memory_order_release); }

  /// `thread`: 0 is the caller.
  void work_as(int thread, int first) {
    if (!recorder) [[likely]] {
      work(first);
      return;
    }
    const uint64_t begin = ticks();
    if (const int iterations = work(first)) recorder->add({thread, begin, ticks(), iterations});
  }

  /// Runs the range `first`, then steals from the others; returns the number of iterations.
  int work(int first) {
    int iterations = 0;
    for (int k = 0; k < parts; ++k) {
      Range& range = ranges[(first + k) % parts];
      while (range.next.load(std::memory_order_relaxed) < range.end) {
        const int i = range.next.fetch_add(1, std::memory_order_relaxed);
        if (i >= range.end) break;
        ++iterations;
        if (const int code = task(user, min + i, closure)) {
          error.store(code, std::memory_order_relaxed);
          drop_the_rest();
        }
      }
    }
    return iterations;
  }

  void drop_the_rest() {
    for (int k = 0; k < parts; ++k) ranges[k].next.store(ranges[k].end, std::memory_order_relaxed);
  }
};

struct Pool {
  std::mutex mutex;  // guards thread creation
  std::atomic<int> threads{0};
  std::atomic<int> open_runs{0};
  alignas(64) std::atomic<uint32_t> generation{0};  // counts loops: sleeping threads wait on it
  Loop loops[kMaxLoops];
  std::atomic<int> ids[kMaxThreads];  // thread ids; 0: not running yet
};

/// Per-thread state of the pool.
struct ThreadState {
  int threads = 0;      // set by ThreadScope; 0: the default
  bool inside = false;  // in a task: nested loops run serially
};

__attribute__((tls_model("initial-exec"))) thread_local ThreadState this_thread;

void before_fork();
void after_fork_in_parent();
void after_fork_in_child();

Pool& pool() {
  static Pool* const instance = [] {
    auto* fresh = new Pool;  // never deleted: its threads run until the process ends
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    return fresh;
  }();
  return *instance;
}

void before_fork() { pool().mutex.lock(); }

void after_fork_in_parent() { pool().mutex.unlock(); }

/// After fork only the calling thread exists in the child: reset the others' state.
void after_fork_in_child() {
  Pool& all = pool();
  all.threads.store(0);
  for (std::atomic<int>& id : all.ids) id.store(0);
  all.open_runs.store(this_thread.threads > 1 ? 1 : 0);
  for (Loop& loop : all.loops) {
    loop.state.store(0);
    loop.taken.store(false);
  }
  all.mutex.unlock();
}

bool join_any_loop(Pool& all, int index) {
  bool worked = false;
  for (Loop& loop : all.loops) {
    if (!loop.join()) continue;
    loop.work_as(index + 1, 1 + index % std::max(1, loop.parts - 1));
    loop.leave();
    worked = true;
  }
  return worked;
}

void* worker_main(void* argument) {
  const int index = static_cast<int>(reinterpret_cast<intptr_t>(argument));
  Pool& all = pool();
  this_thread.inside = true;
  if (index < kMaxThreads)
    all.ids[index].store(static_cast<int>(syscall(SYS_gettid)), std::memory_order_release);
  for (;;) {
    const uint32_t seen = all.generation.load(std::memory_order_acquire);
    if (join_any_loop(all, index)) continue;
    Waiter waiter;
    while (all.generation.load(std::memory_order_acquire) == seen) {
      const int64_t limit = all.open_runs.load(std::memory_order_relaxed) ? kRunSpinNs : kIdleSpinNs;
      if (waiter.step() < limit) continue;
      all.generation.wait(seen, std::memory_order_acquire);
      break;
    }
  }
  return nullptr;
}

/// Starts threads until there are `wanted`, or as many as the system permits: fewer threads are slower, not
/// wrong.
void start_threads(Pool& all, int wanted) {
  const std::lock_guard lock(all.mutex);
  const BlockedSignals blocked;
  int count = all.threads.load(std::memory_order_relaxed);
  for (; count < wanted; ++count) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, worker_main,
                       reinterpret_cast<void*>(static_cast<intptr_t>(count))) != 0)
      break;
    pthread_detach(thread);
  }
  all.threads.store(count, std::memory_order_relaxed);
}

int run_alone(ParallelTask task, void* user, int min, int extent, uint8_t* closure) {
  for (int i = 0; i < extent; ++i) {
    if (const int code = task(user, min + i, closure)) return code;
  }
  return 0;
}

Loop* take_loop(Pool& all) {
  for (Loop& loop : all.loops) {
    if (!loop.taken.load(std::memory_order_relaxed) && !loop.taken.exchange(true, std::memory_order_acquire))
      return &loop;
  }
  return nullptr;
}

/// That this process may use. Not those of the machine, which std::thread::hardware_concurrency() counts:
/// several threads on one processor wait for each other.
int processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0
             ? CPU_COUNT(&allowed)
             : static_cast<int>(std::thread::hardware_concurrency());
}

/// The CPU quota of the control group (version 2), rounded up; 0 if unlimited.
int quota_threads() {
  std::FILE* file = std::fopen("/sys/fs/cgroup/cpu.max", "re");
  if (!file) return 0;
  long quota = 0, period = 0;
  const int read = std::fscanf(file, "%ld %ld", &quota, &period);  // "max 100000" when there is no limit
  std::fclose(file);
  return read == 2 && quota > 0 && period > 0 ? static_cast<int>((quota + period - 1) / period) : 0;
}

int count_default_threads() {
  const std::shared_ptr<const Environment> given = environment();
  for (const std::string& text : {given->num_threads, given->tvm_num_threads}) {
    char* end = nullptr;
    const long wanted = std::strtol(text.c_str(), &end, 10);
    // What is no number is no wish; entry points complain of it (support/environment_complaints.h).
    if (*end == '\0' && wanted > 0) return static_cast<int>(std::min<long>(wanted, kMaxThreads));
  }
  int count = processors();
  if (const int quota = quota_threads()) count = std::min(count, quota);
  return std::clamp(count, 1, kMaxThreads);
}

/// All threads wait for each other a few times: that takes microseconds where each has a processor.
struct Meeting {
  static constexpr int kTimes = 4;
  static constexpr int64_t kAtOnceNs = 20'000;

  alignas(64) std::atomic<int> here{0};
  int threads = 0;
  int64_t until_ns = 0;
  bool met = false;  // written by the caller

  void attend(bool is_caller) {
    int64_t first_ns = 0;
    for (int time = 1; time <= kTimes; ++time) {
      here.fetch_add(1, std::memory_order_acq_rel);
      while (here.load(std::memory_order_acquire) < time * threads) {
        if (monotonic_ns() > until_ns) return;
        pause();
      }
      if (time == 1) first_ns = monotonic_ns();
    }
    if (is_caller) met = monotonic_ns() - first_ns < kAtOnceNs;
  }
};

int attend(void*, int index, uint8_t* closure) {
  reinterpret_cast<Meeting*>(closure)->attend(index == 0);
  return 0;
}

}  // namespace

bool gather_threads(int64_t patience_ns) {
  const int threads = current_threads();
  if (threads <= 1) return true;
  if (threads > processors()) return false;
  const int64_t until_ns = monotonic_ns() + patience_ns;
  do {
    Meeting meeting;
    meeting.threads = threads;
    meeting.until_ns = until_ns;
    parallel_for(attend, nullptr, 0, threads, reinterpret_cast<uint8_t*>(&meeting));
    if (meeting.met) return true;
  } while (monotonic_ns() < until_ns);
  return false;
}

int default_threads() {
  static const int count = count_default_threads();
  return count;
}

int current_threads() {
  return this_thread.inside ? 1 : this_thread.threads > 0 ? this_thread.threads : default_threads();
}

int pool_size() { return pool().threads.load(); }

std::vector<int> pool_thread_ids() {
  std::vector<int> ids;
  for (const std::atomic<int>& slot : pool().ids)
    if (const int id = slot.load(std::memory_order_acquire)) ids.push_back(id);
  return ids;
}

ThreadScope::ThreadScope(int threads) : before_(this_thread.threads) {
  this_thread.threads = std::clamp(threads, 0, kMaxThreads);
  counted_ = !this_thread.inside && current_threads() > 1;
  if (counted_) pool().open_runs.fetch_add(1, std::memory_order_relaxed);
}

ThreadScope::~ThreadScope() {
  if (counted_) pool().open_runs.fetch_sub(1, std::memory_order_relaxed);
  this_thread.threads = before_;
}

BlockedSignals::BlockedSignals() {
  sigset_t ours;
  sigemptyset(&ours);
  for (const int s :
       {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD, SIGALRM, SIGWINCH, SIGPIPE, SIGUSR1, SIGUSR2}) {
    sigaddset(&ours, s);
  }
  pthread_sigmask(SIG_BLOCK, &ours, &before_);
}

BlockedSignals::~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

int parallel_for(ParallelTask task, void* user, int min, int extent, uint8_t* closure) {
  const int parts = std::min(current_threads(), extent);
  if (parts <= 1) return run_alone(task, user, min, extent, closure);
  Pool& all = pool();
  if (all.threads.load(std::memory_order_relaxed) < parts - 1) start_threads(all, parts - 1);
  Loop* const loop = take_loop(all);
  if (!loop) return run_alone(task, user, min, extent, closure);

  loop->task = task;
  loop->user = user;
  loop->closure = closure;
  loop->min = min;
  loop->parts = parts;
  loop->recorder = LoopRecorder::current();
  loop->error.store(0, std::memory_order_relaxed);
  for (int k = 0; k < parts; ++k) {
    loop->ranges[k].next.store(static_cast<int>(int64_t{extent} * k / parts), std::memory_order_relaxed);
    loop->ranges[k].end = static_cast<int>(int64_t{extent} * (k + 1) / parts);
  }
  loop->state.store(Loop::kTicket * static_cast<uint32_t>(parts - 1), std::memory_order_release);
  all.generation.fetch_add(1, std::memory_order_release);
  if (parts - 1 >= all.threads.load(std::memory_order_relaxed)) {
    all.generation.notify_all();
  } else {
    for (int k = 1; k < parts; ++k) all.generation.notify_one();
  }

  this_thread.inside = true;
  loop->work_as(0, 0);
  this_thread.inside = false;

  // Closes the loop to new threads; then waits for those in an iteration.
  loop->state.fetch_and(Loop::kTicket - 1, std::memory_order_acquire);
  Waiter waiter;
  while (loop->state.load(std::memory_order_acquire) != 0) waiter.step();
  const int code = loop->error.load(std::memory_order_relaxed);
  loop->taken.store(false, std::memory_order_release);
  return code;
}

}  // namespace baton
