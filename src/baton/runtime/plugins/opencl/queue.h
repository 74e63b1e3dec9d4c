// Command queues, the memory and the time of what they do.
#pragma once

#include <cstdint>
#include <vector>

#include "baton/runtime/plugins/opencl/driver.h"

namespace baton_opencl {

/// A reference to an event of the driver.
class EventRef {
 public:
  EventRef() = default;
  /// Takes over a reference.
  explicit EventRef(cl_event event) : event_(event) {}
  EventRef(const EventRef& other);
  EventRef& operator=(EventRef other) noexcept;
  ~EventRef();
  cl_event get() const { return event_; }

 private:
  cl_event event_ = nullptr;
};

struct Event;

/// An in-order queue. One thread uses it at a time.
struct Queue {
  ~Queue();
  Device* device = nullptr;
  cl_command_queue queue = nullptr;
  uint64_t commands = 0;        ///< enqueued so far
  EventRef last;                ///< of the last one
  std::vector<Event*> waits;    ///< events whose next command is yet to come
  std::vector<cl_mem> scratch;  ///< intermediate results: the queue's kernels run one after the other
  std::vector<uint64_t> scratch_bytes;

  /// Notes a command that was enqueued, and takes over its event.
  void enqueued(cl_event event);
  /// Makes room for intermediate results of these sizes; grows only. 0, or -1 with a reason.
  int reserve(const std::vector<uint64_t>& bytes);
};

/// A place in a queue, between two commands.
struct Event {
  Queue* queue = nullptr;
  uint64_t commands = 0;  ///< enqueued before it
  EventRef before, after;
};

int queue_create(int32_t device, void** queue);
int queue_wait(void* queue);

int allocate(int32_t device, size_t bytes, uint64_t* memory);
void release(int32_t device, uint64_t memory);
int copy(void* queue, int32_t from_device, uint64_t from, int32_t to_device, uint64_t to, size_t bytes);

void event_destroy(void* event);
int event_record(void* event, void* queue);
/// From the start of the first command between the two to the end of the last; 0 when there is none.
int event_ns(void* start, void* stop, double* ns);

}  // namespace baton_opencl
