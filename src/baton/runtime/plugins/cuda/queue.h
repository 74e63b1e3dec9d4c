// Streams, the memory and the time of what they do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "baton/runtime/plugins/cuda/driver.h"

namespace baton_cuda {

struct Event;

/// A stream: an in-order queue. One thread uses it at a time.
struct Queue {
  ~Queue();
  Device* device = nullptr;
  void* stream = nullptr;
  uint64_t commands = 0;          ///< enqueued so far
  std::vector<Event*> waits;      ///< events whose next command is yet to come
  std::vector<uint64_t> scratch;  ///< intermediate results: the queue's kernels run one after the other
  std::vector<uint64_t> scratch_bytes;

  /// To be called in the device's context before each command: events that wait for one note its begin. 0, or
  /// -1 with a reason.
  int before_command();
  /// Makes room for intermediate results of these sizes; grows only. 0, or -1 with a reason.
  int reserve(const std::vector<uint64_t>& bytes);
};

/// A place in a queue, between two commands: when the one before it ended, and when the one after it began.
/// Two times, so that what the host does between them is not counted.
struct Event {
  ~Event();
  Device* device = nullptr;
  Queue* queue = nullptr;
  uint64_t commands = 0;  ///< enqueued before it
  void *ended = nullptr, *begun = nullptr;
};

/// Memory of a device, counted; to be used in its context. 0 with a reason when there is no room.
uint64_t allocate_memory(Device& device, uint64_t bytes);
void release_memory(Device& device, uint64_t memory);

int queue_create(int32_t device, void** queue);
int queue_wait(void* queue);

int allocate(int32_t device, size_t bytes, uint64_t* memory);
void release(int32_t device, uint64_t memory);
int copy(void* queue, int32_t from_device, uint64_t from, int32_t to_device, uint64_t to, size_t bytes);

int event_create(void* queue, void** event);
void event_destroy(void* event);
int event_record(void* event, void* queue);
/// From the start of the first command between the two to the end of the last; 0 when there is none.
int event_ns(void* start, void* stop, double* ns);

}  // namespace baton_cuda
