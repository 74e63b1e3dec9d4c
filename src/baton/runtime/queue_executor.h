// Executes a plan with its devices and links side by side, and a stream of inputs through them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <pthread.h>

#include "baton/runtime/executor.h"
#include "baton/runtime/executor_memory.h"
#include "baton/runtime/queue_plan.h"

namespace baton {

/// Each queue of a plan (queue_plan.h) has a thread of its own, but the processor's: the thread that calls
/// finish() or run() serves that one, and only there. Results are those of Executor::run(), bit by bit.
/// Several inputs may be on the way, each in an instance of the model: storage of its own; constants and
/// queues are shared. A queue takes the oldest input whose next call may begin.
///
/// Not thread safe: one thread at a time calls it. In the child of a fork its threads are missing: start()
/// fails there.
class QueueExecutor {
 public:
  /// `instances`: 0: one for each queue that has something to do and one more, or as many as the devices have
  /// memory for; one for a plan on the processor alone. Constants and inputs are as in Executor::create().
  static Result<std::unique_ptr<QueueExecutor>> create(std::shared_ptr<const Plan> plan,
                                                       Executor::Modules modules,
                                                       const NamedArrays& constants, size_t instances = 0);
  ~QueueExecutor();
  QueueExecutor(const QueueExecutor&) = delete;
  QueueExecutor& operator=(const QueueExecutor&) = delete;

  /// One of the instances: the model's inputs, outputs and plan. Its contents may be those of any input.
  const Executor& instance() const { return *instances_.front(); }
  const QueuePlan& queues() const { return queue_plan_; }

  /// How many inputs may be on the way at once.
  size_t instances() const { return instances_.size(); }
  size_t on_the_way() const {
    return static_cast<size_t>(started_.load(std::memory_order_relaxed) - finished_);
  }

  /// Threads of kernels on the processor; 0: the thread pool's default. Nothing may be on the way.
  void set_threads(int threads);
  int threads() const { return instance().threads(); }

  /// Once the flag is set, no further call begins, and finish() and run() fail. Null: none. Nothing may be on
  /// the way.
  void set_interrupt(const std::atomic<bool>* flag) { interrupt_ = flag; }

  /// The instance of the next input, to set its inputs: those of the input before it in this instance are
  /// kept. Null when all instances are on the way.
  Executor* next();
  /// The next input begins. Fails when all instances are on the way.
  Status start();
  /// Waits for the oldest input; its outputs are valid until its instance is started again. Of several
  /// failures the first is reported. It ends all inputs on the way; later ones may be started again.
  Result<Executor*> finish();

  /// One input: start() and finish(). Nothing may be on the way.
  Result<Executor*> run();

 private:
  /// The state of a queue. A cache line of its own: its signal is written by others.
  struct alignas(64) Served {
    std::atomic<uint32_t> signal{0};  // changes when one of its calls may have become ready
    // Owned by the thread that serves the queue:
    uint64_t oldest = 0;                // input with calls to come here
    uint64_t seen = 0;                  // inputs
    std::vector<uint32_t> next;         // by instance: position of the next call
    std::vector<uint64_t> unconfirmed;  // inputs with calls that the device may still be working on, in order
    QueueExecutor* executor = nullptr;
    uint32_t index = 0;
    const Device* device = nullptr;  // where calls are only enqueued
    pthread_t thread{};
  };

  QueueExecutor() = default;
  Status start_threads();
  static void* serve(void* queue);
  bool step(Served& queue);
  bool is_ready(const QueuePlan::Call& call, size_t instance) const;
  void begin(Served& queue, uint64_t input, const QueuePlan::Call& call);
  bool confirm(Served& queue);
  void complete(Served& queue, size_t instance, uint32_t calls);
  bool is_complete(size_t instance) const;
  void stop(Status why);
  bool stopped() const {
    return stops_.load(std::memory_order_acquire) != resumed_.load(std::memory_order_acquire);
  }
  void park(Served& queue);
  Status resume();
  static void wake(Served& queue);
  static void wait(Served& queue, uint32_t seen);
  std::atomic<uint32_t>& done(size_t instance, size_t queue) const {
    return done_[instance * served_.size() + queue];
  }

  QueuePlan queue_plan_;
  std::vector<uint32_t> calls_of_;  // by queue
  ExecutorShared shared_;
  std::vector<std::unique_ptr<Executor>> instances_;
  std::vector<std::unique_ptr<Served>> served_;    // by queue; the first is the processor's
  std::unique_ptr<std::atomic<uint32_t>[]> done_;  // by instance and queue: complete calls of its input
  std::atomic<uint64_t> started_{0};               // inputs; number n is in instance n modulo their number
  uint64_t finished_ = 0;
  const std::atomic<bool>* interrupt_ = nullptr;

  size_t threads_started_ = 0;
  int process_ = 0;  // that started them
  std::atomic<bool> ended_{false};

  std::mutex mutex_;  // guards failure_
  Status failure_;
  std::atomic<uint32_t> stops_{0}, resumed_{0};  // failures so far, and those that are over
  std::atomic<uint32_t> parked_{0};              // threads that wait for the end of a failure
};

}  // namespace baton
