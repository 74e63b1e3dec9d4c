#include "baton/profile/inside/pc_sampler.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <mutex>
#include <random>
#include <string>

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "baton/runtime/thread_pool.h"

namespace baton {

#if defined(__linux__) && defined(__x86_64__)

namespace {

constexpr uintptr_t kMostBytes = uintptr_t{1} << 26;

/// A word of another function's frame, which the address sanitizer would not allow.
__attribute__((no_sanitize_address)) uintptr_t word_at(uintptr_t stack) {
  return *reinterpret_cast<const volatile uintptr_t*>(stack);
}

/// State of the signal handler: lock-free counters only.
struct Table {
  uintptr_t begin = 0, bytes = 0;
  std::unique_ptr<std::atomic<uint32_t>[]> at, called;
  std::atomic<uint64_t> outside{0}, idle{0};

  void note(uintptr_t pc, uintptr_t stack, bool pool_thread) {
    if (pc - begin < bytes) {
      at[pc - begin].fetch_add(1, std::memory_order_relaxed);
      return;
    }
    // memset and the like have no frame: the return address is on top of the stack.
    const uintptr_t caller = word_at(stack);
    if (caller - 1 - begin < bytes)
      called[caller - 1 - begin].fetch_add(1, std::memory_order_relaxed);
    else
      (pool_thread ? idle : outside).fetch_add(1, std::memory_order_relaxed);
  }
};

std::atomic<Table*> active{nullptr};
std::atomic<int> handling{0};
static_assert(std::atomic<Table*>::is_always_lock_free && std::atomic<uint64_t>::is_always_lock_free);

void on_signal(int, siginfo_t* info, void* context) {
  const int before = errno;
  handling.fetch_add(1, std::memory_order_seq_cst);
  Table* const table = active.load(std::memory_order_seq_cst);
  if (table && info->si_code == SI_TIMER) {
    const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
    table->note(static_cast<uintptr_t>(registers[REG_RIP]), static_cast<uintptr_t>(registers[REG_RSP]),
                info->si_value.sival_int != 0);
  }
  handling.fetch_sub(1, std::memory_order_release);
  errno = before;
}

std::mutex& one_at_a_time() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

/// An unused signal: real-time ones from the top, which programs rarely use, then SIGPROF; 0 for none.
int free_signal() {
  const auto is_free = [](int signal) {
    struct sigaction now{};
    if (sigaction(signal, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_DFL)
      return false;
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    return sigismember(&blocked, signal) == 0;
  };
  for (int signal = SIGRTMAX; signal >= SIGRTMIN; --signal)
    if (is_free(signal)) return signal;
  return is_free(SIGPROF) ? SIGPROF : 0;
}

}  // namespace

struct PcSampler::State {
  Table table;
  std::unique_lock<std::mutex> turn{one_at_a_time()};
  int signal = 0;
  int64_t period_ns = 0;
  struct sigaction before{};
  bool installed = false;
  std::vector<timer_t> timers;
  std::minstd_rand random{std::random_device()()};

  Status add_timer(int thread, bool of_pool) {
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = signal;
    event.sigev_value.sival_int = of_pool;
    event._sigev_un._tid = thread;
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
      return Status::unavailable(std::string("no timer for sampling: ") + std::strerror(errno));
    timers.push_back(timer);
    // Random initial phase, so that short runs are not all sampled at the same places.
    const int64_t first = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(period_ns));
    const auto spec = [](int64_t ns) { return timespec{ns / 1'000'000'000, ns % 1'000'000'000}; };
    const itimerspec when{spec(period_ns), spec(first)};
    if (timer_settime(timer, 0, &when, nullptr) != 0)
      return Status::unavailable(std::string("a timer for sampling cannot be set: ") + std::strerror(errno));
    return Status::success();
  }

  void remove_timers() {
    for (const timer_t timer : timers) timer_delete(timer);
    timers.clear();
  }
};

PcSampler::PcSampler(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<PcSampler>> PcSampler::create(uintptr_t begin, uintptr_t end, int hz) {
  if (begin >= end || end - begin > kMostBytes)
    return Status::invalid("code of " + std::to_string(end - begin) + " bytes cannot be sampled: 1 to " +
                           std::to_string(kMostBytes));
  if (hz < 1 || hz > 20'000)
    return Status::invalid("samples per second must be 1 to 20000, not " + std::to_string(hz));
  auto state = std::make_unique<State>();
  state->table.begin = begin;
  state->table.bytes = end - begin;
  state->table.at = std::make_unique<std::atomic<uint32_t>[]>(end - begin);
  state->table.called = std::make_unique<std::atomic<uint32_t>[]>(end - begin);
  state->period_ns = 1'000'000'000 / hz;
  state->signal = free_signal();
  if (!state->signal)
    return Status::unavailable(
        "sampling needs a signal, and this process uses all of SIGRTMIN to SIGRTMAX and SIGPROF");
  struct sigaction action{};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  if (sigaction(state->signal, &action, &state->before) != 0)
    return Status::unavailable(std::string("no handler for sampling: ") + std::strerror(errno));
  state->installed = true;
  return std::unique_ptr<PcSampler>(new PcSampler(std::move(state)));
}

Status PcSampler::start(bool pool) {
  active.store(&state_->table, std::memory_order_seq_cst);
  Status status = state_->add_timer(static_cast<int>(syscall(SYS_gettid)), false);
  for (const int thread : pool ? pool_thread_ids() : std::vector<int>()) {
    if (!status.ok()) break;
    status = state_->add_timer(thread, true);
  }
  if (!status.ok()) stop();
  return status;
}

void PcSampler::stop() {
  state_->remove_timers();
  active.store(nullptr, std::memory_order_seq_cst);
  while (handling.load(std::memory_order_acquire) > 0)
    sched_yield();  // a handler on another thread may still be running
}

PcCounts PcSampler::counts() const {
  const Table& table = state_->table;
  PcCounts counts{table.begin, std::vector<uint32_t>(table.bytes), std::vector<uint32_t>(table.bytes),
                  table.outside, table.idle};
  for (size_t i = 0; i < table.bytes; ++i) counts.at[i] = table.at[i], counts.called[i] = table.called[i];
  return counts;
}

PcSampler::~PcSampler() {
  stop();
  if (!state_->installed) return;
  // A pending signal would end the process under the default action: ignoring it first discards it.
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  sigaction(state_->signal, &ignore, nullptr);
  sigaction(state_->signal, &state_->before, nullptr);
}

#else

struct PcSampler::State {};
PcSampler::PcSampler(std::unique_ptr<State> state) : state_(std::move(state)) {}
Result<std::unique_ptr<PcSampler>> PcSampler::create(uintptr_t, uintptr_t, int) {
  return Status::unavailable("sampling works on Linux on x86-64 only");
}
Status PcSampler::start(bool) { return Status::unavailable("sampling works on Linux on x86-64 only"); }
void PcSampler::stop() {}
PcCounts PcSampler::counts() const { return {}; }
PcSampler::~PcSampler() = default;

#endif

}  // namespace baton
