#include "baton/runtime/queue_executor.h"

#include <algorithm>
#include <string>

#include <unistd.h>

#include "baton/runtime/processor.h"
#include "baton/runtime/system/timers.h"
#include "baton/runtime/thread_pool.h"

namespace baton {
namespace {

constexpr uint32_t kProcessorQueue = 0;

// A thread that sleeps needs tens of microseconds to go on, many kernels take less. Longer waits must not
// take a processor from those that compute.
constexpr int64_t kSpunNs = 20'000;

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

// ---- Creation.

Result<std::unique_ptr<QueueExecutor>> QueueExecutor::create(std::shared_ptr<const Plan> plan,
                                                             Executor::Modules modules,
                                                             const NamedArrays& constants, size_t instances) {
  std::unique_ptr<QueueExecutor> made(new QueueExecutor);
  made->queue_plan_ = queue_plan(*plan);
  size_t busy = 0;
  for (const QueuePlan::Queue& queue : made->queue_plan_.queues) {
    busy += !queue.calls.empty();
    made->calls_of_.push_back(static_cast<uint32_t>(queue.calls.size()));
  }
  // On the processor alone nothing overlaps.
  const bool alone = made->queue_plan_.queues.size() == 1;
  const size_t wanted = instances ? instances : alone ? 1 : busy + 1;
  while (made->instances_.size() < wanted) {
    Result<std::unique_ptr<Executor>> instance = Executor::create(plan, modules, constants, made->shared_);
    if (instance.ok()) {
      made->instances_.push_back(std::move(*instance));
      continue;
    }
    const bool enough = !instances && !made->instances_.empty();
    if (enough && instance.status().code == StatusCode::kOutOfMemory) break;
    return instance.status();
  }
  const size_t queues = made->queue_plan_.queues.size();
  for (uint32_t q = 0; q < queues; ++q) {
    const QueuePlan::Queue& queue = made->queue_plan_.queues[q];
    made->served_.push_back(std::make_unique<Served>());
    Served& served = *made->served_.back();
    served.executor = made.get();
    served.index = q;
    served.next.resize(made->instances_.size());
    if (!queue.is_link()) served.device = made->instances_.front()->device(queue.to);
  }
  made->done_ = std::make_unique<std::atomic<uint32_t>[]>(queues * made->instances_.size());
  return made;
}

QueueExecutor::~QueueExecutor() {
  if (process_ != getpid()) return;  // the threads are the parent's
  ended_.store(true, std::memory_order_release);
  for (size_t i = 1; i <= threads_started_; ++i) wake(*served_[i]);
  for (size_t i = 1; i <= threads_started_; ++i) pthread_join(served_[i]->thread, nullptr);
}

Status QueueExecutor::start_threads() {
  if (process_ && process_ != getpid())
    return Status::unavailable(
        "the threads of this executor are those of the parent process: create another one after the fork");
  process_ = getpid();
  const BlockedSignals blocked;
  while (threads_started_ + 1 < served_.size()) {
    Served& queue = *served_[threads_started_ + 1];
    if (pthread_create(&queue.thread, nullptr, serve, &queue) != 0)
      return Status::unavailable("the system gives no thread for " + std::to_string(served_.size() - 1) +
                                 " queues of devices and links");
    ++threads_started_;
  }
  return Status::success();
}

void QueueExecutor::set_threads(int threads) {
  for (const auto& instance : instances_) instance->set_threads(threads);
}

// ---- Signals: a waiting thread reads its signal before it looks for something to do.

void QueueExecutor::wake(Served& queue) {
  queue.signal.fetch_add(1, std::memory_order_acq_rel);
  queue.signal.notify_one();
}

void QueueExecutor::wait(Served& queue, uint32_t seen) {
  const int64_t begin = monotonic_ns();
  do {
    for (int i = 0; i < 16; ++i) relax();
    if (queue.signal.load(std::memory_order_acquire) != seen) return;
  } while (monotonic_ns() - begin < kSpunNs);
  queue.signal.wait(seen, std::memory_order_acquire);
}

// ---- Queues. What a thread finds complete, the calls before it in that queue included, happened before.

void* QueueExecutor::serve(void* argument) {
  auto& queue = *static_cast<Served*>(argument);
  QueueExecutor& executor = *queue.executor;
  for (;;) {
    const uint32_t seen = queue.signal.load(std::memory_order_acquire);
    if (executor.ended_.load(std::memory_order_acquire)) break;
    if (executor.stopped()) {
      executor.park(queue);
      continue;
    }
    // Before it sleeps, others learn of what its device has done.
    if (executor.step(queue) || (!queue.unconfirmed.empty() && executor.confirm(queue))) continue;
    wait(queue, seen);
  }
  if (queue.device) (void)queue.device->wait();
  return nullptr;
}

/// Begins a call; false when none may begin.
bool QueueExecutor::step(Served& queue) {
  const std::vector<uint32_t>& calls = queue_plan_.queues[queue.index].calls;
  const auto has_more = [&](uint64_t input) { return queue.next[input % instances_.size()] < calls.size(); };
  // First, since an input that is new may be in the instance of one that is over.
  while (queue.oldest < queue.seen && !has_more(queue.oldest)) ++queue.oldest;
  const uint64_t started = started_.load(std::memory_order_acquire);
  for (; queue.seen < started; ++queue.seen) queue.next[queue.seen % instances_.size()] = 0;
  for (uint64_t input = queue.oldest; input < queue.seen; ++input) {
    const size_t instance = input % instances_.size();
    if (!has_more(input)) continue;
    const QueuePlan::Call& call = queue_plan_.calls[calls[queue.next[instance]]];
    if (!is_ready(call, instance)) continue;
    begin(queue, input, call);
    return true;
  }
  return false;
}

bool QueueExecutor::is_ready(const QueuePlan::Call& call, size_t instance) const {
  return std::all_of(call.waits.begin(), call.waits.end(), [&](const QueuePlan::Wait& wait) {
    return done(instance, wait.queue).load(std::memory_order_acquire) >= wait.calls;
  });
}

void QueueExecutor::begin(Served& queue, uint64_t input, const QueuePlan::Call& call) {
  if (interrupt_ && interrupt_->load(std::memory_order_relaxed))
    return stop(Status::unavailable("interrupted while running"));
  const size_t instance = input % instances_.size();
  const Executor& executor = *instances_[instance];
  const ThreadScope scope(executor.threads());
  if (const Executor::Call* work = executor.node_call(call.node)) {
    if (const int code = work->function(work->context, work->args))
      return stop(executor.node_failed(call.node, code));
  }
  ++queue.next[instance];
  if (!queue.device) return complete(queue, instance, queue.next[instance]);
  queue.unconfirmed.push_back(input);
  // Waiting for the device costs it the time until the next call arrives: only where somebody needs to know.
  if (!call.wakes.empty() || queue.next[instance] == calls_of_[queue.index]) confirm(queue);
}

/// Waits for the device. False when it has failed.
bool QueueExecutor::confirm(Served& queue) {
  if (Status status = queue.device->wait(); !status.ok()) {
    stop(std::move(status));
    return false;
  }
  for (const uint64_t input : queue.unconfirmed) {
    const size_t instance = input % instances_.size();
    complete(queue, instance, done(instance, queue.index).load(std::memory_order_relaxed) + 1);
  }
  queue.unconfirmed.clear();
  return true;
}

/// The first `calls` calls of an input in this queue are complete.
void QueueExecutor::complete(Served& queue, size_t instance, uint32_t calls) {
  const QueuePlan::Call& call = queue_plan_.calls[queue_plan_.queues[queue.index].calls[calls - 1]];
  done(instance, queue.index).store(calls, std::memory_order_release);
  for (const uint32_t other : call.wakes) wake(*served_[other]);
  if (calls == calls_of_[queue.index] && queue.index != kProcessorQueue) wake(*served_[kProcessorQueue]);
}

bool QueueExecutor::is_complete(size_t instance) const {
  for (size_t q = 0; q < served_.size(); ++q)
    if (done(instance, q).load(std::memory_order_acquire) != calls_of_[q]) return false;
  return true;
}

// ---- Failures: every thread ends its call, waits for its device, and parks; then all inputs are dropped.

void QueueExecutor::stop(Status why) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped()) return;  // the first failure counts
    failure_ = std::move(why);
    stops_.fetch_add(1, std::memory_order_acq_rel);
  }
  for (const auto& queue : served_) wake(*queue);
}

void QueueExecutor::park(Served& queue) {
  const uint32_t number = stops_.load(std::memory_order_acquire);
  if (queue.device) (void)queue.device->wait();
  queue.unconfirmed.clear();
  parked_.fetch_add(1, std::memory_order_acq_rel);
  wake(*served_[kProcessorQueue]);
  for (;;) {
    const uint32_t seen = queue.signal.load(std::memory_order_acquire);
    if (ended_.load(std::memory_order_acquire) || resumed_.load(std::memory_order_acquire) == number) return;
    wait(queue, seen);
  }
}

/// The failure, once all threads are parked and nothing is on the way.
Status QueueExecutor::resume() {
  Served& here = *served_[kProcessorQueue];
  for (;;) {
    const uint32_t seen = here.signal.load(std::memory_order_acquire);
    if (parked_.load(std::memory_order_acquire) == threads_started_) break;
    wait(here, seen);
  }
  finished_ = started_.load(std::memory_order_relaxed);
  for (const auto& queue : served_) queue->oldest = queue->seen = finished_;
  Status why;
  {
    const std::lock_guard lock(mutex_);
    std::swap(why, failure_);
  }
  parked_.store(0, std::memory_order_relaxed);
  resumed_.fetch_add(1, std::memory_order_release);
  for (const auto& queue : served_) wake(*queue);
  return why;
}

// ---- Inputs.

Executor* QueueExecutor::next() {
  if (on_the_way() == instances_.size()) return nullptr;
  return instances_[started_.load(std::memory_order_relaxed) % instances_.size()].get();
}

Status QueueExecutor::start() {
  if (on_the_way() == instances_.size())
    return Status::invalid("all " + std::to_string(instances_.size()) +
                           " instances are on the way: finish the oldest input first");
  if (process_ != getpid() || threads_started_ + 1 < served_.size())
    if (Status status = start_threads(); !status.ok()) return status;
  const uint64_t input = started_.load(std::memory_order_relaxed);
  for (size_t q = 0; q < served_.size(); ++q)
    done(input % instances_.size(), q).store(0, std::memory_order_relaxed);
  started_.store(input + 1, std::memory_order_release);
  for (size_t q = 1; q < served_.size(); ++q)
    if (is_ready(queue_plan_.calls[queue_plan_.queues[q].calls.front()], input % instances_.size()))
      wake(*served_[q]);
  return Status::success();
}

Result<Executor*> QueueExecutor::finish() {
  if (on_the_way() == 0) return Status::invalid("no input is on the way: start one first");
  if (process_ != getpid()) return start_threads();
  const size_t instance = finished_ % instances_.size();
  Served& here = *served_[kProcessorQueue];
  const ThreadScope scope(threads());
  for (;;) {
    const uint32_t seen = here.signal.load(std::memory_order_acquire);
    if (stopped()) return resume();
    if (is_complete(instance)) break;
    if (!step(here)) wait(here, seen);
  }
  ++finished_;
  return instances_[instance].get();
}

Result<Executor*> QueueExecutor::run() {
  if (on_the_way() != 0)
    return Status::invalid("inputs are on the way: run() is for one at a time, after finish() of all others");
  if (Status status = start(); !status.ok()) return status;
  return finish();
}

}  // namespace baton
