#include "baton/runtime/plugins/opencl/module.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace baton_opencl {
namespace {

constexpr std::string_view kMagic = "baton opencl";
constexpr uint32_t kVersion = 1;
constexpr size_t kShownLog = 2000;

/// Reads little-endian numbers and texts; after the first failure everything is 0 and empty.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::string_view take(uint64_t size) {
    if (size > bytes_.size()) {
      ok_ = false;
      bytes_ = {};
      return {};
    }
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  uint64_t number(size_t size) {
    const std::string_view bytes = take(size);
    uint64_t value = 0;
    for (size_t i = 0; i < bytes.size(); ++i)
      value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    return value;
  }
  uint32_t count() { return static_cast<uint32_t>(number(4)); }
  /// A number of items of at least `size` bytes each: what is left must hold them.
  uint32_t count_of(size_t size) {
    const uint32_t value = count();
    if (value <= bytes_.size() / size) return value;
    ok_ = false;
    return 0;
  }
  std::string_view text() { return take(number(8)); }
  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool ok_ = true;
};

bool refers_to_something(const Argument& argument, const Unit& unit) {
  switch (argument.kind) {
    case Argument::Kind::kTensor:
      return argument.index < unit.tensors;
    case Argument::Kind::kScratch:
      return argument.index < unit.scratch.size();
    case Argument::Kind::kConstant:
      return argument.index < unit.constants.size();
    case Argument::Kind::kNumber:
      return argument.bytes >= 1 && argument.bytes <= sizeof argument.number;
  }
  return false;
}

bool read_launch(Reader& reader, const Unit& unit, Launch& launch) {
  launch.function = reader.text();
  for (size_t& blocks : launch.blocks) blocks = reader.count();
  for (size_t& threads : launch.threads) threads = reader.count();
  launch.shared_bytes = reader.count();
  const uint32_t arguments = reader.count_of(20);
  for (uint32_t i = 0; i < arguments; ++i) {
    Argument argument;
    argument.kind = static_cast<Argument::Kind>(reader.count());
    argument.index = reader.count();
    argument.bytes = reader.count();
    argument.number = reader.number(8);
    if (!refers_to_something(argument, unit)) return false;
    launch.arguments.push_back(argument);
  }
  const auto is_zero = [](size_t count) { return count == 0; };
  return reader.ok() && std::none_of(launch.blocks, launch.blocks + 3, is_zero) &&
         std::none_of(launch.threads, launch.threads + 3, is_zero);
}

std::unique_ptr<Unit> read_unit(std::string_view bytes) {
  Reader reader(bytes);
  auto unit = std::make_unique<Unit>();
  unit->source = reader.text();
  unit->tensors = reader.count();
  const uint32_t constants = reader.count_of(8);
  for (uint32_t i = 0; i < constants; ++i) unit->constants.emplace_back(reader.text());
  const uint32_t scratch = reader.count_of(8);
  for (uint32_t i = 0; i < scratch; ++i) unit->scratch.push_back(reader.number(8));
  const uint32_t launches = reader.count_of(44);
  for (uint32_t i = 0; i < launches; ++i) {
    unit->launches.emplace_back();
    if (!read_launch(reader, *unit, unit->launches.back())) return nullptr;
  }
  return reader.at_end() ? std::move(unit) : nullptr;
}

std::string log_of(cl_program program, cl_device_id device) {
  size_t bytes = 0;
  cl().GetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes);
  std::string log(bytes, '\0');
  cl().GetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr);
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  if (log.size() > kShownLog) log = log.substr(0, kShownLog) + " ...";
  return log.empty() ? "the driver gives no log" : log;
}

std::string names_of(const Module& module, const Unit& unit) {
  std::string names;
  for (const auto& [name, each] : module.by_name)
    if (each == &unit) names += (names.empty() ? "`" : ", `") + name + "`";
  return names;
}

}  // namespace

Unit::~Unit() {
  for (const cl_mem memory : constant_memory) cl().ReleaseMemObject(memory);
  if (program) cl().ReleaseProgram(program);
}

std::unique_ptr<Module> read_module(std::string_view blob) {
  Reader reader(blob);
  if (reader.take(kMagic.size()) != kMagic) {
    fail("its code is no code for OpenCL");
    return nullptr;
  }
  if (const uint32_t version = reader.count(); version != kVersion) {
    fail("its code is of version " + std::to_string(version) + ", this plug-in reads version " +
         std::to_string(kVersion) + ": build the model again with this version of Baton");
    return nullptr;
  }
  auto module = std::make_unique<Module>();
  bool whole = true;
  const uint32_t units = reader.count_of(8);
  for (uint32_t i = 0; i < units && whole; ++i) {
    module->units.push_back(read_unit(reader.text()));
    whole = module->units.back() != nullptr;
  }
  const uint32_t names = whole ? reader.count_of(12) : 0;
  for (uint32_t i = 0; i < names && whole; ++i) {
    const std::string name(reader.text());
    const uint32_t unit = reader.count();
    whole = unit < module->units.size();
    if (whole) module->by_name[name] = module->units[unit].get();
  }
  if (whole && reader.at_end()) return module;
  fail("its code for OpenCL is damaged: build the model again");
  return nullptr;
}

int build(Module& module, Device& device) {
  module.device = &device;
  for (const std::unique_ptr<Unit>& unit : module.units) {
    const char* text = unit->source.data();
    const size_t bytes = unit->source.size();
    cl_int code = CL_SUCCESS;
    unit->program = cl().CreateProgramWithSource(device.context, 1, &text, &bytes, &code);
    if (code == CL_SUCCESS) code = cl().BuildProgram(unit->program, 1, &device.id, "", nullptr, nullptr);
    if (code != CL_SUCCESS)
      return fail("the driver of `" + device.name + "` cannot build " + names_of(module, *unit) + " (" +
                  error_name(code) + "): " + (unit->program ? log_of(unit->program, device.id) : ""));
    for (std::string& constant : unit->constants) {
      const cl_mem memory = cl().CreateBuffer(device.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                              std::max<size_t>(constant.size(), 1), constant.data(), &code);
      if (code != CL_SUCCESS)
        return fail("the device `" + device.name + "` has no memory for a constant of " +
                    std::to_string(constant.size()) + " bytes: " + error_name(code));
      unit->constant_memory.push_back(memory);
    }
  }
  return 0;
}

}  // namespace baton_opencl
