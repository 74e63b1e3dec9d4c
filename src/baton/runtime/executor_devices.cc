// The executor's code for devices other than the CPU. Plans without any use it only once, on loading.
#include <string>
#include <string_view>
#include <unordered_set>

#include "baton/runtime/executor.h"
#include "baton/runtime/executor_memory.h"
#include "baton/runtime/processor.h"
#include "baton/runtime/system/timers.h"
#include "baton/runtime/thread_pool.h"

namespace baton {

const Device* Executor::device(int device_type) const {
  for (const auto& [type, device] : devices_) {
    if (type == device_type) return device.get();
  }
  return nullptr;
}

/// The queue for inputs, constants and results on a device.
const Device* Executor::edge(int device_type) const {
  for (const auto& [type, device] : edges_) {
    if (type == device_type) return device.get();
  }
  return nullptr;
}

Result<std::shared_ptr<Device>> ExecutorShared::link(int of, int with, const Device& like) {
  std::shared_ptr<Device>& link = links[{of, with}];
  if (!link) {
    Result<std::unique_ptr<Device>> opened = Device::open(like.plugin(), like.number());
    if (!opened.ok()) return opened.status();
    link = std::move(*opened);
  }
  return link;
}

/// The plug-in that is named like a type of devices; null: none is.
const char* plugin_named_like(int device_type) {
  constexpr int kCuda = 2, kOpenCl = 4;  // DLPack's numbers
  return device_type == kCuda ? "cuda" : device_type == kOpenCl ? "opencl" : nullptr;
}

Result<const Plugin*> plugin_for(std::span<const std::shared_ptr<const PluginModule>> modules,
                                 int device_type, const std::string& user) {
  for (const auto& module : modules) {
    if (module->plugin().device_of_kind(device_type) >= 0) return &module->plugin();
  }
  std::string others;
  for (const Plugin* plugin : Plugin::loaded()) {
    if (plugin->device_of_kind(device_type) >= 0) return plugin;
    others += (others.empty() ? " and the plug-ins `" : "`, `") + plugin->name();
  }
  if (const char* name = plugin_named_like(device_type)) {
    const Result<const Plugin*> plugin = Plugin::find(name);
    if (plugin.ok() && (*plugin)->device_of_kind(device_type) >= 0) return *plugin;
  }
  return Status::unavailable(user + " runs on device type " + std::to_string(device_type) +
                             "; this runtime has the processor (1)" +
                             (others.empty() ? " only" : others + "`"));
}

Status Executor::open_devices(ExecutorShared* shared) {
  if (shared && !shared->devices.empty()) {
    devices_ = shared->devices;
    edges_ = shared->edges;
    return Status::success();
  }
  for (const PlanNode& node : plan_->nodes) {
    for (uint32_t i = 0; i < node.num_outputs; ++i) {
      const int type = plan_->entries[node.first_entry + i].device_type;
      if (type == kProcessorKind || device(type)) continue;
      const Result<const Plugin*> plugin = plugin_for(modules_, type, "node `" + node.name + "`");
      if (!plugin.ok()) return plugin.status();
      Result<std::unique_ptr<Device>> opened = Device::open(**plugin, (*plugin)->device_of_kind(type));
      if (!opened.ok()) return opened.status();
      devices_.emplace_back(type, std::move(*opened));
    }
  }
  edges_ = devices_;
  if (!shared) return Status::success();
  for (auto& [type, device] : edges_) {
    Result<std::unique_ptr<Device>> opened = Device::open(device->plugin(), device->number());
    if (!opened.ok()) return opened.status();
    device = std::move(*opened);
  }
  shared->devices = devices_;
  shared->edges = edges_;
  return Status::success();
}

Status Executor::allocate_on_devices(const NamedArrays& constants, const ExecutorShared* shared) {
  if (shared && shared->first) {
    std::unordered_set<std::string_view> names;
    for (const auto& [name, value] : constants) names.insert(name);
    for (const uint32_t node : plan_->arg_nodes) {
      if (!names.count(plan_->nodes[node].name)) continue;
      const auto storage = static_cast<size_t>(plan_->entries[plan_->nodes[node].first_entry].storage);
      memory_->blocks[storage] = shared->first->blocks[storage];
    }
  }
  for (size_t s = 0; s < plan_->storages.size(); ++s) {
    const PlanStorage& storage = plan_->storages[s];
    const Device* on = device(storage.device_type);
    if (!on) continue;
    if (!memory_->blocks[s]) {
      Result<DeviceBlock> block = on->allocate(storage.bytes);
      if (!block.ok()) return block.status();
      memory_->blocks[s] = std::make_shared<const DeviceBlock>(std::move(*block));
    }
    for (const EntryId id : memory_->entries[s]) memory_->tensors[id].memory = memory_->blocks[s]->memory();
  }
  return Status::success();
}

Status Executor::wait() const {
  for (const auto& [type, device] : devices_) {
    if (Status status = device->wait(); !status.ok()) return status;
  }
  return Status::success();
}

/// Runs and waits for one call at a time: device kernels are measured by the device's clock, CPU kernels and
/// copies by ours. Whatever a simulated device does takes the time of its own clock, in the sum too.
/// Involuntary switches of threads say nothing here: those of a driver take turns with ours.
Result<RunProfile> Executor::profile_with_devices(int runs) {
  const double scale = ns_per_tick();
  const size_t count = calls_.size(), times = static_cast<size_t>(runs);
  RunProfile profile{call_nodes_, std::vector(count, std::vector<double>(times)), std::vector<double>(times),
                     std::vector(count, std::vector<bool>(times)),
                     std::vector(count, std::vector<double>(times))};
  const ThreadScope scope(threads_);
  for (size_t r = 0; r < times; ++r) {
    const uint64_t begin = ticks();
    double elsewhere_ns = 0;  // simulated time, less what the simulation took
    for (size_t c = 0; c < count; ++c) {
      const Call& call = calls_[c];
      const PlanNode& node = plan_->nodes[call_nodes_[c]];
      const Device* on = device(plan_->entries[node.first_entry].device_type);
      const bool simulated = plan_->is_simulated(call_nodes_[c]);
      if (simulated && !on) on = device(plan_->entries[node.inputs[0]].device_type);
      int code = 0;
      if (on && (simulated || node.kind == PlanNode::Kind::kKernel)) {
        const uint64_t start = ticks();
        const Result<double> ns = on->time([&] { return code = call.function(call.context, call.args); });
        if (code) return node_failed(call_nodes_[c], code);
        if (!ns.ok()) return ns.status();
        profile.node_ns[c][r] = *ns;
        if (simulated) elsewhere_ns += *ns - static_cast<double>(ticks() - start) * scale;
      } else {
        const uint64_t start = ticks();
        code = call.function(call.context, call.args);
        profile.node_ns[c][r] = static_cast<double>(ticks() - start) * scale;
        if (code) return node_failed(call_nodes_[c], code);
      }
    }
    profile.total_ns[r] = static_cast<double>(ticks() - begin) * scale + elsewhere_ns;
  }
  return profile;
}

}  // namespace baton
