#include "baton/runtime/plugins/opencl/queue.h"

#include <algorithm>
#include <utility>

namespace baton_opencl {
namespace {

cl_mem memory_of(uint64_t handle) { return reinterpret_cast<cl_mem>(static_cast<uintptr_t>(handle)); }
void* address(uint64_t handle) { return reinterpret_cast<void*>(static_cast<uintptr_t>(handle)); }

/// A buffer; null with a reason when there is no room. Drivers promise memory that they do not have, so what
/// is in use is counted here.
cl_mem create_buffer(Device& device, uint64_t bytes) {
  const uint64_t used = device.used_bytes.fetch_add(bytes) + bytes;
  cl_int code = CL_SUCCESS;
  cl_mem memory = nullptr;
  std::string why;
  if (used > device.memory_bytes) {
    why =
        std::to_string(used - bytes) + " of its " + std::to_string(device.memory_bytes) + " bytes are in use";
  } else if (bytes > device.largest_block) {
    why = "one block may have " + std::to_string(device.largest_block) + " bytes at most";
  } else {
    memory = cl().CreateBuffer(device.context, CL_MEM_READ_WRITE, bytes, nullptr, &code);
    if (code == CL_SUCCESS) return memory;
    why = error_name(code);
  }
  device.used_bytes -= bytes;
  fail(why);
  return nullptr;
}

void release_buffer(Device& device, cl_mem memory) {
  size_t bytes = 0;
  cl().GetMemObjectInfo(memory, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr);
  device.used_bytes -= bytes;
  cl().ReleaseMemObject(memory);
}

int checked(cl_int code, const char* what) {
  return code == CL_SUCCESS ? 0 : fail(std::string(what) + ": " + error_name(code));
}

/// Between two devices, whose contexts share no memory: through the host.
int copy_between(Queue& queue, Device& from, uint64_t source, uint64_t target, size_t bytes) {
  void* reading = nullptr;
  if (queue_create(from.index, &reading) != 0) return -1;
  const std::unique_ptr<Queue> reader(static_cast<Queue*>(reading));
  std::vector<uint8_t> through(bytes);
  if (const int code = copy(reader.get(), from.index, source, -1,
                            static_cast<uint64_t>(reinterpret_cast<uintptr_t>(through.data())), bytes))
    return code;
  return copy(&queue, -1, static_cast<uint64_t>(reinterpret_cast<uintptr_t>(through.data())),
              queue.device->index, target, bytes);
}

}  // namespace

EventRef::EventRef(const EventRef& other) : event_(other.event_) {
  if (event_) cl().RetainEvent(event_);
}
EventRef& EventRef::operator=(EventRef other) noexcept {
  std::swap(event_, other.event_);
  return *this;
}
EventRef::~EventRef() {
  if (event_) cl().ReleaseEvent(event_);
}

Queue::~Queue() {
  for (Event* event : waits) event->queue = nullptr;
  for (const cl_mem memory : scratch)
    if (memory) release_buffer(*device, memory);
  if (queue) cl().ReleaseCommandQueue(queue);
}

void Queue::enqueued(cl_event event) {
  ++commands;
  last = EventRef(event);
  for (Event* each : waits) each->after = last;
  waits.clear();
}

int Queue::reserve(const std::vector<uint64_t>& bytes) {
  if (scratch.size() < bytes.size()) {
    scratch.resize(bytes.size());
    scratch_bytes.resize(bytes.size());
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    const uint64_t wanted = std::max<uint64_t>(bytes[i], 1);
    if (scratch_bytes[i] >= wanted) continue;
    const cl_mem memory = create_buffer(*device, wanted);
    if (!memory)
      return fail("no memory for an intermediate result of " + std::to_string(wanted) +
                  " bytes: " + last_error());
    if (scratch[i]) release_buffer(*device, scratch[i]);  // the driver keeps it while commands use it
    scratch[i] = memory;
    scratch_bytes[i] = wanted;
  }
  return 0;
}

int queue_create(int32_t index, void** queue) {
  Device* const device = device_at(index);
  if (!device) return -1;
  auto made = std::make_unique<Queue>();
  made->device = device;
  cl_int code = CL_SUCCESS;
  made->queue = cl().CreateCommandQueue(device->context, device->id, CL_QUEUE_PROFILING_ENABLE, &code);
  if (code != CL_SUCCESS) return fail(error_name(code));
  *queue = made.release();
  return 0;
}

int queue_wait(void* handle) {
  const auto* queue = static_cast<const Queue*>(handle);
  if (const cl_int code = cl().Finish(queue->queue); code != CL_SUCCESS)
    return checked(code, "the queue failed");
  cl_int status = CL_COMPLETE;
  if (queue->last.get())
    cl().GetEventInfo(queue->last.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  return status < 0 ? checked(status, "a command failed") : 0;
}

int allocate(int32_t index, size_t bytes, uint64_t* memory) {
  Device* const device = device_at(index);
  if (!device) return -1;
  const cl_mem made = create_buffer(*device, std::max<size_t>(bytes, 1));
  *memory = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(made));
  return made ? 0 : -1;
}

void release(int32_t index, uint64_t memory) {
  if (Device* const device = device_at(index)) release_buffer(*device, memory_of(memory));
}

int copy(void* handle, int32_t from_device, uint64_t from, int32_t to_device, uint64_t to, size_t bytes) {
  auto& queue = *static_cast<Queue*>(handle);
  if (from_device >= 0 && to_device >= 0 && from_device != to_device) {
    Device* const device = device_at(from_device);
    return device ? copy_between(queue, *device, from, to, bytes) : -1;
  }
  cl_event event = nullptr;
  cl_int code = CL_SUCCESS;
  if (from_device < 0) {
    code = cl().EnqueueWriteBuffer(queue.queue, memory_of(to), CL_TRUE, 0, bytes, address(from), 0, nullptr,
                                   &event);
  } else if (to_device < 0) {
    code = cl().EnqueueReadBuffer(queue.queue, memory_of(from), CL_TRUE, 0, bytes, address(to), 0, nullptr,
                                  &event);
  } else {
    code =
        cl().EnqueueCopyBuffer(queue.queue, memory_of(from), memory_of(to), 0, 0, bytes, 0, nullptr, &event);
  }
  if (code != CL_SUCCESS) return checked(code, "a copy failed");
  queue.enqueued(event);
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
  if (event->queue) std::erase(event->queue->waits, event);
  event->queue = queue;
  event->commands = queue->commands;
  event->before = queue->last;
  event->after = EventRef();
  queue->waits.push_back(event);
  return 0;
}

int event_ns(void* start, void* stop, double* ns) {
  const auto& from = *static_cast<const Event*>(start);
  const auto& to = *static_cast<const Event*>(stop);
  *ns = 0;
  if (!from.after.get() || !to.before.get() || from.commands == to.commands) return 0;
  cl_ulong begin = 0, end = 0;
  cl_int code =
      cl().GetEventProfilingInfo(from.after.get(), CL_PROFILING_COMMAND_START, sizeof begin, &begin, nullptr);
  if (code == CL_SUCCESS)
    code = cl().GetEventProfilingInfo(to.before.get(), CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
  if (code != CL_SUCCESS) return checked(code, "the driver gives no time of a command");
  *ns = static_cast<double>(end) - static_cast<double>(begin);
  return 0;
}

}  // namespace baton_opencl
