// Threads of the runtime leave signals to the threads of the program.
#pragma once

#include <signal.h>

namespace baton {

/// RAII: threads that are started meanwhile do not get the program's signals; those of profilers (SIGPROF,
/// real time) they do.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t ours;
    sigemptyset(&ours);
    for (const int s :
         {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD, SIGALRM, SIGWINCH, SIGPIPE, SIGUSR1, SIGUSR2}) {
      sigaddset(&ours, s);
    }
    pthread_sigmask(SIG_BLOCK, &ours, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace baton
