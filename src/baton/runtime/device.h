// A device as used by one executor: a queue, memory, copies. The CPU has no Device: its memory is accessed by
// address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "baton/runtime/plugin.h"
#include "baton/support/base/status.h"

namespace baton {

/// A block of device memory, released by the destructor.
class DeviceBlock {
 public:
  DeviceBlock() = default;
  DeviceBlock(const Plugin& plugin, int32_t device, uint64_t memory)
      : plugin_(&plugin), device_(device), memory_(memory) {}
  DeviceBlock(DeviceBlock&& other) noexcept { *this = static_cast<DeviceBlock&&>(other); }
  DeviceBlock& operator=(DeviceBlock&& other) noexcept;
  ~DeviceBlock();

  uint64_t memory() const { return memory_; }  ///< 0: none

 private:
  const Plugin* plugin_ = nullptr;
  int32_t device_ = 0;
  uint64_t memory_ = 0;
};

/// One queue of one device. Not thread safe.
class Device {
 public:
  static Result<std::unique_ptr<Device>> open(const Plugin& plugin, int32_t device);
  ~Device() { plugin_.table().queue_destroy(queue_); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const Plugin& plugin() const { return plugin_; }
  int32_t number() const { return device_; }  ///< among the plug-in's
  void* queue() const { return queue_; }

  /// All that it has, in bytes; 0: its plug-in does not say.
  uint64_t memory_bytes() const;

  /// Readable for one vector (64 bytes) past the end.
  Result<DeviceBlock> allocate(size_t bytes) const;

  /// Synchronous copies from and to the host.
  Status copy_in(uint64_t to, const void* from, size_t bytes) const;
  Status copy_out(void* to, uint64_t from, size_t bytes) const;

  /// Waits until the queue is empty.
  Status wait() const;

  /// Synchronous copy between a tensor of `from` and one of `to`, of which at most one is null (the host).
  /// Returns 0, or the failing plug-in's error code. Copies between two plug-ins go through the host.
  static int copy(const Device* from, const baton_tensor& source, const Device* to,
                  const baton_tensor& target, size_t bytes);

  /// The time on the device, in nanoseconds, of the commands that `work` enqueues.
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

/// The context of a call that copies a tensor between two devices; null is the CPU.
struct Crossing {
  const Device* from;
  const Device* to;
  static int run(void* context, void** args);
};

}  // namespace baton
