// The devices of one machine beside the processor: their queues, and the memory of tensors there.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "baton/runtime/device.h"
#include "baton/runtime/vm/measured_run.h"
#include "baton/runtime/vm/program.h"

namespace baton::vm {

/// Blocks of a device's memory, which are taken and given back. Commands of one queue may still use a block
/// that is given back: whoever takes it next uses it by later commands of that queue. Thread safe.
class DevicePool {
 public:
  explicit DevicePool(const Device& device) : device_(device) {}
  struct Block {
    DeviceBlock memory;
    size_t bytes = 0;
  };
  Result<std::unique_ptr<Block>> take(size_t bytes);
  void give_back(std::unique_ptr<Block> block);
  /// Nothing is kept from here on: the queue ends.
  void close();

 private:
  const Device& device_;
  std::mutex mutex_;
  std::multimap<size_t, std::unique_ptr<Block>> free_;  // by size
  bool closed_ = false;
};

/// Values outlive it: their memory is then released with them.
class MachineDevices {
 public:
  using Modules = std::span<const std::shared_ptr<const PluginModule>>;
  /// Opens a queue of each device that the program names, and brings constants there.
  static Result<std::unique_ptr<MachineDevices>> open(const Program& program, Modules modules);
  ~MachineDevices();
  MachineDevices(const MachineDevices&) = delete;
  MachineDevices& operator=(const MachineDevices&) = delete;

  /// By its number in the program, from 1 on; null for the processor.
  const Device* device(uint32_t number) const { return number ? devices_[number - 1].get() : nullptr; }
  /// What copies a tensor from one to the other.
  baton_bound copier(uint32_t from, uint32_t to);
  /// A tensor without contents.
  Result<program::Value> make(uint32_t device, Shape shape, DType dtype) const;
  /// A constant that a piece reads there.
  const program::Value& constant(uint32_t device, uint32_t constant) const {
    return constants_.at({device, constant});
  }
  /// Who has a copy made, in a run that is measured.
  struct Cause {
    MeasuredRun* run = nullptr;  ///< null: it is not measured
    uint32_t node = MeasuredRun::kOutside;
  };
  /// A tensor, which may be on another device, there; itself where it is.
  Result<program::Value> brought(const program::Value& tensor, uint32_t device, const Cause& cause) const;
  /// `value` with all its tensors in the memory of the host: fields of tuples and data, and what references
  /// hold. What closures capture stays.
  Result<program::Value> for_host(const program::Value& value, const Cause& cause) const;
  /// Does `work`, which returns 0 where it succeeds, and says what it took by the clock of a device (0:
  /// ours). The time of a simulated device is in place of ours.
  int measure(uint32_t clock, MeasuredRun& run, const std::function<int()>& work, uint64_t& ticks) const;
  /// The device whose clock tells the time of a copy: a simulated one; else 0.
  uint32_t clock_of_copy(uint32_t from, uint32_t to) const;
  Status wait() const;

 private:
  explicit MachineDevices(const Program& program) : program_(program) {}
  bool is_simulated(uint32_t device) const {
    return device && program_.devices[device - 1] >= BATON_FIRST_SIMULATED_KIND;
  }
  Status bring_constants();

  const Program& program_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<std::shared_ptr<DevicePool>> pools_;
  std::map<std::pair<uint32_t, uint32_t>, program::Value> constants_;
  std::map<std::pair<uint32_t, uint32_t>, Crossing> crossings_;
};

}  // namespace baton::vm
