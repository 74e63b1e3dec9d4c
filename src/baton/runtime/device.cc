#include "baton/runtime/device.h"

#include <string>
#include <utility>

#include "baton/runtime/tensors.h"
#include "baton/support/base/ndarray.h"

namespace baton {
namespace {

constexpr size_t kReadBehind = 64;

uint64_t host_address(const void* data) { return reinterpret_cast<uintptr_t>(data); }

}  // namespace

DeviceBlock& DeviceBlock::operator=(DeviceBlock&& other) noexcept {
  std::swap(plugin_, other.plugin_);
  std::swap(device_, other.device_);
  std::swap(memory_, other.memory_);
  return *this;
}

DeviceBlock::~DeviceBlock() {
  if (memory_) plugin_->table().release(device_, memory_);
}

Result<std::unique_ptr<Device>> Device::open(const Plugin& plugin, int32_t device) {
  void* queue = nullptr;
  if (plugin.table().queue_create(device, &queue) != 0) {
    return Status::unavailable("device " + std::to_string(device) + " of `" + plugin.name() +
                               "` gives no queue" + plugin.reason());
  }
  return std::unique_ptr<Device>(new Device(plugin, device, queue));
}

Status Device::failed(const char* what) const {
  return Status::kernel_failed("the device `" + std::string(plugin_.table().device_name(device_)) + "` " +
                               what + plugin_.reason());
}

uint64_t Device::memory_bytes() const {
  const auto ask = plugin_.memory_bytes();
  uint64_t bytes = 0;
  return ask && ask(device_, &bytes) == 0 ? bytes : 0;
}

Result<DeviceBlock> Device::allocate(size_t bytes) const {
  uint64_t memory = 0;
  if (plugin_.table().allocate(device_, bytes + kReadBehind, &memory) != 0 || !memory) {
    return Status::out_of_memory("the device `" + std::string(plugin_.table().device_name(device_)) +
                                 "` has no memory for " + std::to_string(bytes) + " bytes" +
                                 plugin_.reason());
  }
  return DeviceBlock(plugin_, device_, memory);
}

Status Device::copy_in(uint64_t to, const void* from, size_t bytes) const {
  if (!bytes || plugin_.table().copy(queue_, BATON_HOST, host_address(from), device_, to, bytes) == 0)
    return Status::success();
  return failed("took no copy of a tensor");
}

Status Device::copy_out(void* to, uint64_t from, size_t bytes) const {
  if (!bytes || plugin_.table().copy(queue_, device_, from, BATON_HOST, host_address(to), bytes) == 0)
    return Status::success();
  return failed("gave no copy of a tensor");
}

Status Device::wait() const {
  return plugin_.table().queue_wait(queue_) == 0 ? Status::success() : failed("failed");
}

int Crossing::run(void* context, void** args) {
  const auto* crossing = static_cast<const Crossing*>(context);
  const auto* source = static_cast<const baton_tensor*>(args[0]);
  const auto* target = static_cast<const baton_tensor*>(args[1]);
  return Device::copy(crossing->from, *source, crossing->to, *target, bytes_of(*source));
}

int Device::copy(const Device* from, const baton_tensor& source, const Device* to, const baton_tensor& target,
                 size_t bytes) {
  if (!from)
    return to->plugin_.table().copy(to->queue_, BATON_HOST, host_address(source.host), to->device_,
                                    target.memory, bytes);
  const baton_backend& table = from->plugin_.table();
  if (!to)
    return table.copy(from->queue_, from->device_, source.memory, BATON_HOST, host_address(target.host),
                      bytes);
  if (&from->plugin_ == &to->plugin_) {
    // The queues are independent: the source must be complete, and must not be overwritten before the copy.
    int code = table.queue_wait(from->queue_);
    if (!code) code = table.copy(to->queue_, from->device_, source.memory, to->device_, target.memory, bytes);
    return code ? code : table.queue_wait(to->queue_);
  }
  NDArray through = NDArray::empty({static_cast<int64_t>(bytes)}, DType::uint_(8));
  if (!through.defined()) return -1;
  const uint64_t at = host_address(through.data());
  const int code = table.copy(from->queue_, from->device_, source.memory, BATON_HOST, at, bytes);
  return code ? code
              : to->plugin_.table().copy(to->queue_, BATON_HOST, at, to->device_, target.memory, bytes);
}

}  // namespace baton
