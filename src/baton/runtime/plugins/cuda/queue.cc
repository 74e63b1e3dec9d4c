#include "baton/runtime/plugins/cuda/queue.h"

#include <algorithm>
#include <utility>

namespace baton_cuda {
namespace {

constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING: not in step with the default stream of others

void* address(uint64_t handle) { return reinterpret_cast<void*>(static_cast<uintptr_t>(handle)); }

}  // namespace

uint64_t allocate_memory(Device& device, uint64_t bytes) {
  const uint64_t used = device.used_bytes.fetch_add(bytes) + bytes;
  uint64_t memory = 0;
  const int code = used > device.memory_bytes ? kOutOfMemory : cu().MemAlloc(&memory, bytes);
  if (code == kSuccess) return memory;
  device.used_bytes -= bytes;
  fail(std::to_string(used - bytes) + " of its " + std::to_string(device.memory_bytes) +
       " bytes are in use by this program: " + error_name(code));
  return 0;
}

void release_memory(Device& device, uint64_t memory) {
  uint64_t begin = 0;
  size_t bytes = 0;
  if (cu().MemGetAddressRange(&begin, &bytes, memory) == kSuccess) device.used_bytes -= bytes;
  cu().MemFree(memory);
}

Queue::~Queue() {
  for (Event* event : waits) event->queue = nullptr;
  const InContext here(*device);
  if (!here.ok()) return;
  for (const uint64_t memory : scratch)
    if (memory) release_memory(*device, memory);
  if (stream) cu().StreamDestroy(stream);
}

int Queue::before_command() {
  ++commands;
  for (Event* event : std::exchange(waits, {}))
    if (const int code = cu().EventRecord(event->begun, stream); code != kSuccess)
      return checked(code, "an event cannot be recorded");
  return 0;
}

int Queue::reserve(const std::vector<uint64_t>& bytes) {
  if (scratch.size() < bytes.size()) {
    scratch.resize(bytes.size());
    scratch_bytes.resize(bytes.size());
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    const uint64_t wanted = std::max<uint64_t>(bytes[i], 1);
    if (scratch_bytes[i] >= wanted) continue;
    const uint64_t memory = allocate_memory(*device, wanted);
    if (!memory)
      return fail("no memory for an intermediate result of " + std::to_string(wanted) +
                  " bytes: " + last_error());
    if (scratch[i]) release_memory(*device, scratch[i]);  // waits for commands that use it
    scratch[i] = memory;
    scratch_bytes[i] = wanted;
  }
  return 0;
}

Event::~Event() {
  const InContext here(*device);
  if (!here.ok()) return;
  for (void* each : {ended, begun})
    if (each) cu().EventDestroy(each);
}

int queue_create(int32_t index, void** queue) {
  Device* const device = device_at(index);
  if (!device) return -1;
  const InContext here(*device);
  if (!here.ok()) return -1;
  auto made = std::make_unique<Queue>();
  made->device = device;
  if (const int code = cu().StreamCreate(&made->stream, kNonBlocking); code != kSuccess)
    return fail(error_name(code));
  *queue = made.release();
  return 0;
}

int queue_wait(void* handle) {
  const auto* queue = static_cast<const Queue*>(handle);
  const InContext here(*queue->device);
  return here.ok() ? checked(cu().StreamSynchronize(queue->stream), "a command failed") : -1;
}

int allocate(int32_t index, size_t bytes, uint64_t* memory) {
  Device* const device = device_at(index);
  if (!device) return -1;
  const InContext here(*device);
  if (!here.ok()) return -1;
  *memory = allocate_memory(*device, std::max<size_t>(bytes, 1));
  return *memory ? 0 : -1;
}

void release(int32_t index, uint64_t memory) {
  Device* const device = device_at(index);
  if (!device) return;
  const InContext here(*device);
  if (here.ok()) release_memory(*device, memory);
}

int copy(void* handle, int32_t from_device, uint64_t from, int32_t to_device, uint64_t to, size_t bytes) {
  auto& queue = *static_cast<Queue*>(handle);
  const InContext here(*queue.device);
  if (!here.ok() || queue.before_command() != 0) return -1;
  int code = kSuccess;
  if (from_device < 0) {
    code = cu().MemcpyHtoDAsync(to, address(from), bytes, queue.stream);
  } else if (to_device < 0) {
    code = cu().MemcpyDtoHAsync(address(to), from, bytes, queue.stream);
  } else if (from_device == to_device) {
    return checked(cu().MemcpyDtoDAsync(to, from, bytes, queue.stream), "a copy failed");
  } else {
    Device *const source = device_at(from_device), *const target = device_at(to_device);
    if (!source || !target || !source->context() || !target->context()) return -1;
    return checked(cu().MemcpyPeerAsync(to, target->context(), from, source->context(), bytes, queue.stream),
                   "a copy between devices failed");
  }
  // The host's side may be reused at once: in order with the queue, and complete.
  if (code == kSuccess) code = cu().StreamSynchronize(queue.stream);
  return checked(code, "a copy failed");
}

int event_create(void* handle, void** event) {
  auto& queue = *static_cast<Queue*>(handle);
  const InContext here(*queue.device);
  if (!here.ok()) return -1;
  auto made = std::make_unique<Event>();
  made->device = queue.device;
  int code = cu().EventCreate(&made->ended, 0);
  if (code == kSuccess) code = cu().EventCreate(&made->begun, 0);
  if (code != kSuccess) return checked(code, "an event cannot be made");
  *event = made.release();
  return 0;
}

void event_destroy(void* handle) {
  auto* event = static_cast<Event*>(handle);
  if (event->queue) std::erase(event->queue->waits, event);
  delete event;
}

int event_record(void* handle, void* in) {
  auto* event = static_cast<Event*>(handle);
  auto* queue = static_cast<Queue*>(in);
  const InContext here(*queue->device);
  if (!here.ok()) return -1;
  if (event->queue) std::erase(event->queue->waits, event);
  event->queue = queue;
  event->commands = queue->commands;
  if (const int code = cu().EventRecord(event->ended, queue->stream); code != kSuccess)
    return checked(code, "an event cannot be recorded");
  queue->waits.push_back(event);
  return 0;
}

int event_ns(void* start, void* stop, double* ns) {
  const auto& from = *static_cast<const Event*>(start);
  const auto& to = *static_cast<const Event*>(stop);
  *ns = 0;
  if (from.commands == to.commands) return 0;
  const InContext here(*from.device);
  if (!here.ok()) return -1;
  float milliseconds = 0;
  const int code = cu().EventElapsedTime(&milliseconds, from.begun, to.ended);
  *ns = 1e6 * static_cast<double>(milliseconds);
  return checked(code, "the driver gives no time of a command");
}

}  // namespace baton_cuda
