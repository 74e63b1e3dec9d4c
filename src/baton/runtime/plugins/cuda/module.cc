#include "baton/runtime/plugins/cuda/module.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "baton/runtime/plugins/cuda/queue.h"

namespace baton_cuda {
namespace {

constexpr size_t kLogBytes = 2000;
constexpr int kErrorLog = 5, kErrorLogBytes = 6;  // CU_JIT_ERROR_LOG_BUFFER, ..._SIZE_BYTES

/// What follows a directive of the text: "sm_80" of ".target"; empty when it is not there.
std::string_view directive(std::string_view ptx, std::string_view name) {
  const size_t at = ptx.find(name);
  if (at == std::string_view::npos) return {};
  std::string_view rest = ptx.substr(at + name.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return rest.substr(0, rest.find_first_of(", \n"));
}

/// 86 of ".target sm_86"; 0 when there is none.
int capability_of(std::string_view ptx) {
  const std::string_view target = directive(ptx, ".target");
  int number = 0;
  if (target.starts_with("sm_")) std::from_chars(target.data() + 3, target.data() + target.size(), number);
  return number;
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Has the driver compile a kernel, and uploads its constants. `names`: the kernel's, for errors.
int build(Unit& unit, const std::string& names) {
  Device& device = unit.device;
  if (unit.code.launches.empty()) return 0;  // a result without elements, whose text is empty
  if (const int needed = capability_of(unit.code.source); needed > device.capability)
    return fail("the code of " + names + " is for sm_" + std::to_string(needed) + " and later, and `" +
                device.name + "` is of sm_" + std::to_string(device.capability) +
                ": build the model for `cuda -arch=sm_" + std::to_string(device.capability) + "`");
  std::string log(kLogBytes, '\0');
  int names_of_options[] = {kErrorLog, kErrorLogBytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(kLogBytes - 1)};
  int code = cu().ModuleLoadDataEx(&unit.module, unit.code.source.c_str(), 2, names_of_options, values);
  log.resize(log.find('\0'));
  while (!log.empty() && log.back() == '\n') log.pop_back();
  if (code == kPtxTooNew)
    return fail("the code of " + names + " is PTX " + std::string(directive(unit.code.source, ".version")) +
                ", which is newer than the driver (CUDA " + version_text(driver().version) +
                "): update the driver, or build the model for an older -arch (" + error_name(code) + ")");
  if (code != kSuccess)
    return fail("the driver of `" + device.name + "` cannot build " + names + " (" + error_name(code) +
                "): " + (log.empty() ? "the driver gives no log" : log));
  for (const std::string& constant : unit.code.constants) {
    const uint64_t memory = allocate_memory(device, std::max<size_t>(constant.size(), 1));
    if (!memory)
      return fail("the device `" + device.name + "` has no memory for a constant of " +
                  std::to_string(constant.size()) + " bytes: " + last_error());
    unit.constant_memory.push_back(memory);
    // On the default stream, and complete before any other one uses it.
    code = cu().MemcpyHtoDAsync(memory, constant.data(), constant.size(), nullptr);
    if (code == kSuccess) code = cu().StreamSynchronize(nullptr);
    if (code != kSuccess) return checked(code, "a constant cannot be copied to the device");
  }
  return 0;
}

}  // namespace

Unit::~Unit() {
  const InContext here(device);
  if (!here.ok()) return;
  for (const uint64_t memory : constant_memory) release_memory(device, memory);
  if (module) cu().ModuleUnload(module);
}

std::unique_ptr<Module> load_module(std::string_view bytes, Device& device) {
  baton::DeviceBlob blob;
  if (std::string why = unpack(bytes, baton::kCudaCode, blob); !why.empty()) {
    fail(std::move(why));
    return nullptr;
  }
  const InContext here(device);
  if (!here.ok()) return nullptr;
  auto module = std::make_unique<Module>();
  module->device = &device;
  for (uint32_t i = 0; i < blob.units.size(); ++i) {
    module->units.push_back(std::make_unique<Unit>(device));
    Unit& unit = *module->units.back();
    if (!unpack(blob.units[i], unit.code)) {
      fail("its code for CUDA is damaged: build the model again");
      return nullptr;
    }
    if (build(unit, names_of(blob, i)) != 0) return nullptr;
  }
  for (const auto& [name, unit] : blob.unit_of) module->by_name[name] = module->units[unit].get();
  return module;
}

}  // namespace baton_cuda
