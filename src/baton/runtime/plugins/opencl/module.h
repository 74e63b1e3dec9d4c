// The code of one model: kernels read from a blob, and their programs as the driver has built them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "baton/runtime/plugins/opencl/driver.h"

namespace baton_opencl {

struct Argument {
  enum class Kind : uint32_t { kTensor, kScratch, kConstant, kNumber };
  Kind kind = Kind::kNumber;
  uint32_t index = 0;
  uint32_t bytes = 0;
  uint64_t number = 0;
};

struct Launch {
  std::string function;
  size_t blocks[3] = {1, 1, 1}, threads[3] = {1, 1, 1};
  uint32_t shared_bytes = 0;
  std::vector<Argument> arguments;
};

/// A compiled kernel: source text, and how to run it.
struct Unit {
  ~Unit();
  std::string source;
  uint32_t tensors = 0;
  std::vector<std::string> constants;
  std::vector<uint64_t> scratch;
  std::vector<Launch> launches;

  // Of one device, made by build().
  cl_program program = nullptr;
  std::vector<cl_mem> constant_memory;
};

struct Module {
  Device* device = nullptr;
  std::vector<std::unique_ptr<Unit>> units;
  std::map<std::string, Unit*, std::less<>> by_name;
};

/// Null with a reason when the bytes are not a blob of this version, or damaged.
std::unique_ptr<Module> read_module(std::string_view blob);

/// Builds the program of every kernel for the device. 0, or -1 with the driver's log as the reason.
int build(Module& module, Device& device);

}  // namespace baton_opencl
