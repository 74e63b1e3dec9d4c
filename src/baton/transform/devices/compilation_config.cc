#include "baton/transform/devices/compilation_config.h"

#include <algorithm>

namespace baton {

namespace {

constexpr int kCpu = 1;

VirtualDevice device_of(const TargetRef& target) { return {target->device_type(), 0, {}, target}; }

}  // namespace

CompilationConfig CompilationConfig::make(const PassContext& context, const std::vector<std::string>& targets,
                                          const std::string& host) {
  if (targets.empty()) throw UsageError("a target is needed, such as \"llvm\"");
  CompilationConfig config;
  const TargetRef host_target = Target::parse(host.empty() ? "llvm" : host);
  for (const std::string& target : targets)
    config.primitive_targets.push_back(with_host(Target::parse(target), host_target));
  std::ranges::stable_sort(config.primitive_targets, {}, &Target::device_type);
  config.host_device = device_of(host_target);
  if (config.primitive_targets.size() == 1) {
    config.default_device = device_of(config.primitive_targets[0]);
    return config;
  }
  const int64_t given = context.config.integer("relay.fallback_device_type", 0);
  const int type = given > 0 ? static_cast<int>(given) : kCpu;
  config.default_device = config.canonical({type, 0, {}, {}});
  return config;
}

VirtualDevice CompilationConfig::canonical(VirtualDevice device) const {
  if (device.device_type < 0) return device;
  device.device_type = aliased_device_type(device.device_type);
  if (device.target) return device;
  for (const TargetRef& target : primitive_targets) {
    if (target->device_type() != device.device_type) continue;
    device.target = target;
    return device;
  }
  std::string known;
  for (const TargetRef& target : primitive_targets)
    known += "\n  " + std::to_string(target->device_type()) + "-> " + target->text();
  throw UsageError("No target is specified for device type " + std::to_string(device.device_type) +
                   ". The available device types and targets are:" + known);
}

std::string CompilationConfig::text() const {
  std::string text = "Primitive targets:\n";
  for (const TargetRef& target : primitive_targets)
    text += "  " + std::to_string(target->device_type()) + " |-> " + target->text() + "\n";
  return text + "Default primitive virtual device: " + default_device.text() +
         "\nHost virtual device: " + host_device.text();
}

}  // namespace baton
