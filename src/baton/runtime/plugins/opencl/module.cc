#include "baton/runtime/plugins/opencl/module.h"

#include <algorithm>
#include <utility>

namespace baton_opencl {
namespace {

constexpr size_t kShownLog = 2000;

std::string log_of(cl_program program, cl_device_id device) {
  size_t bytes = 0;
  cl().GetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes);
  std::string log(bytes, '\0');
  cl().GetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr);
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  if (log.size() > kShownLog) log = log.substr(0, kShownLog) + " ...";
  return log.empty() ? "the driver gives no log" : log;
}

/// Builds the program of a kernel, and uploads its constants. `names`: the kernel's, for errors.
int build(Unit& unit, Device& device, const std::string& names) {
  const char* text = unit.code.source.data();
  const size_t bytes = unit.code.source.size();
  cl_int code = CL_SUCCESS;
  unit.program = cl().CreateProgramWithSource(device.context, 1, &text, &bytes, &code);
  if (code == CL_SUCCESS) code = cl().BuildProgram(unit.program, 1, &device.id, "", nullptr, nullptr);
  if (code != CL_SUCCESS)
    return fail("the driver of `" + device.name + "` cannot build " + names + " (" + error_name(code) +
                "): " + (unit.program ? log_of(unit.program, device.id) : ""));
  for (std::string& constant : unit.code.constants) {
    const cl_mem memory = cl().CreateBuffer(device.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                            std::max<size_t>(constant.size(), 1), constant.data(), &code);
    if (code != CL_SUCCESS)
      return fail("the device `" + device.name + "` has no memory for a constant of " +
                  std::to_string(constant.size()) + " bytes: " + error_name(code));
    unit.constant_memory.push_back(memory);
  }
  return 0;
}

}  // namespace

Unit::~Unit() {
  for (const cl_mem memory : constant_memory) cl().ReleaseMemObject(memory);
  if (program) cl().ReleaseProgram(program);
}

std::unique_ptr<Module> load_module(std::string_view bytes, Device& device) {
  baton::DeviceBlob blob;
  if (std::string why = unpack(bytes, baton::kOpenClCode, blob); !why.empty()) {
    fail(std::move(why));
    return nullptr;
  }
  auto module = std::make_unique<Module>();
  module->device = &device;
  for (uint32_t i = 0; i < blob.units.size(); ++i) {
    module->units.push_back(std::make_unique<Unit>());
    Unit& unit = *module->units.back();
    if (!unpack(blob.units[i], unit.code)) {
      fail("its code for OpenCL is damaged: build the model again");
      return nullptr;
    }
    if (build(unit, device, names_of(blob, i)) != 0) return nullptr;
  }
  for (const auto& [name, unit] : blob.unit_of) module->by_name[name] = module->units[unit].get();
  return module;
}

}  // namespace baton_opencl
