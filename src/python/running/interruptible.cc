#include "python/running/interruptible.h"

#include <csignal>

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace baton::python {

namespace {

std::atomic<bool> asked{false};
int depth = 0;            // of the main thread
struct sigaction before;  // Python's, while depth > 0

void on_sigint(int signal, siginfo_t* info, void* context) {
  asked = true;
  if (before.sa_flags & SA_SIGINFO) {
    before.sa_sigaction(signal, info, context);
  } else {
    before.sa_handler(signal);
  }
}

/// Asks the system once for each thread: a run of a small program takes less than two calls of the system.
bool on_main_thread() {
  static std::atomic<int> forks{0};  // the thread that forks is the child's main thread
  static const int registered = pthread_atfork(nullptr, nullptr, [] { ++forks; });
  thread_local int asked_at = -1;
  thread_local bool answer = false;
  if (asked_at != forks || registered != 0) {
    asked_at = forks;
    answer = getpid() == static_cast<pid_t>(syscall(SYS_gettid));
  }
  return answer;
}

}  // namespace

SigintFlag::SigintFlag() {
  if (!on_main_thread()) return;
  counted_ = true;
  if (depth++ > 0) return;
  asked = false;
  struct sigaction action{};
  if (sigaction(SIGINT, nullptr, &before) != 0) return;
  if (!(before.sa_flags & SA_SIGINFO) && (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN))
    return;
  action.sa_sigaction = on_sigint;
  action.sa_flags = SA_SIGINFO | (before.sa_flags & SA_ONSTACK);
  action.sa_mask = before.sa_mask;
  armed_ = sigaction(SIGINT, &action, nullptr) == 0;
}

SigintFlag::~SigintFlag() {
  if (!counted_) return;
  --depth;
  if (!armed_) return;
  struct sigaction now{};
  // Keeps a handler installed by code that ran in between.
  if (sigaction(SIGINT, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_sigint)
    sigaction(SIGINT, &before, nullptr);
}

const std::atomic<bool>* SigintFlag::flag() {
  static const std::atomic<bool> never{false};
  return on_main_thread() ? &asked : &never;
}

void raise_interrupt() {
  if (PyErr_CheckSignals() == 0) PyErr_SetNone(PyExc_KeyboardInterrupt);
  throw nb::python_error();
}

}  // namespace baton::python
