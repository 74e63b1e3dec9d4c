// A device as one executor uses it: a queue of its own, memory, copies. The processor is none here: what lies
// in its memory is used by address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "baton/runtime/plugin.h"
#include "baton/support/base/status.h"

namespace baton {

/// A block of a device's memory; given back when it goes.
class DeviceBlock {
 public:
  DeviceBlock() = default;
  DeviceBlock(const Plugin& plugin, int32_t device, uint64_t memory)
      : plugin_(&plugin), device_(device), memory_(memory) {}
  DeviceBlock(DeviceBlock&& other) noexcept { *this = static_cast<DeviceBlock&&>(other); }
  DeviceBlock& operator=(DeviceBlock&& other) noexcept;
  ~DeviceBlock();

  uint64_t memory() const { return memory_; }  ///< 0: there is none

 private:
  const Plugin* plugin_ = nullptr;
  int32_t device_ = 0;
  uint64_t memory_ = 0;
};

/// One queue of one device. Not to be used by two threads at a time.
class Device {
 public:
  static Result<std::unique_ptr<Device>> open(const Plugin& plugin, int32_t device);
  ~Device() { plugin_.table().queue_destroy(queue_); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const Plugin& plugin() const { return plugin_; }
  void* queue() const { return queue_; }

  /// Readable for one vector (64 bytes) behind the end.
  Result<DeviceBlock> allocate(size_t bytes) const;

  /// From and to the host: done on return.
  Status copy_in(uint64_t to, const void* from, size_t bytes) const;
  Status copy_out(void* to, uint64_t from, size_t bytes) const;

  /// Until the queue is empty.
  Status wait() const;

  /// From a tensor of `from` to one of `to`, of which not both are null (the host): done on return. 0, or
  /// the code of the plug-in that failed. Between two plug-ins the way leads through the host.
  static int copy(const Device* from, const baton_tensor& source, const Device* to,
                  const baton_tensor& target, size_t bytes);

  /// Nanoseconds on the device from the start to the end of what `work` puts into the queue.
  template <typename Work>
  Result<double> time(Work&& work) const {
    Event start(*this), stop(*this);
    if (!start.event || !stop.event) return failed("has no events to measure with");
    const baton_backend& table = plugin_.table();
    double ns = 0;
    int code = table.event_record(start.event, queue_);
    if (!code) code = work();
    if (code) return Status::kernel_failed(std::to_string(code) + plugin_.reason());
    if (table.event_record(stop.event, queue_) || table.queue_wait(queue_) ||
        table.event_ns(start.event, stop.event, &ns))
      return failed("failed while it was measured");
    return ns;
  }

 private:
  struct Event {
    explicit Event(const Device& device) : table(device.plugin_.table()) {
      if (table.event_create(device.queue_, &event)) event = nullptr;
    }
    ~Event() {
      if (event) table.event_destroy(event);
    }
    const baton_backend& table;
    void* event = nullptr;
  };

  Device(const Plugin& plugin, int32_t device, void* queue)
      : plugin_(plugin), device_(device), queue_(queue) {}
  Status failed(const char* what) const;

  const Plugin& plugin_;
  int32_t device_;
  void* queue_;
};

}  // namespace baton
