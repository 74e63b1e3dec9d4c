// Compiled kernels, ready to be called.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/support/base/kernel_table.h"
#include "baton/support/base/status.h"

namespace baton {

/// A kernel: pointers to one halide_buffer_t per tensor, inputs in order, then outputs. Dimension 0 of a
/// buffer is the last axis of the tensor. Returns 0 or an error code.
using KernelFunction = int (*)(void** args);

/// What kernels of this process call for memory, threads and stage marks; for kernels that were not linked
/// with the shim (Halide's JIT).
const baton_kernel_table& kernel_services();

/// A library of kernels. Unloaded when the last owner goes.
class KernelLibrary {
 public:
  /// Loads a shared library that was linked with the shim. The file is read once and not used any more.
  static Result<std::shared_ptr<const KernelLibrary>> open(const std::string& path);

  /// The same from its bytes. Nothing is left on disk, unless `files` or, where that is empty, the
  /// environment variable BATON_KERNEL_FILES names a folder: then the library stands there as a file named
  /// after its contents, so that programs that look from outside (perf, gdb) find its symbols.
  static Result<std::shared_ptr<const KernelLibrary>> from_memory(std::span<const uint8_t> bytes,
                                                                  const std::string& files = {});

  /// Functions that are in memory already; `keep_alive` holds whatever they belong to.
  static std::shared_ptr<const KernelLibrary> from_functions(
      std::vector<std::pair<std::string, KernelFunction>> functions, std::shared_ptr<void> keep_alive);

  ~KernelLibrary();
  KernelLibrary(const KernelLibrary&) = delete;
  KernelLibrary& operator=(const KernelLibrary&) = delete;

  /// The kernel of that name (symbol `<name>_argv` in a shared library); null when there is none.
  KernelFunction find(std::string_view name) const;

  /// The address of any exported symbol of a shared library; null when there is none.
  void* symbol(const std::string& name) const;

 private:
  KernelLibrary() = default;
  static Result<std::shared_ptr<const KernelLibrary>> from_bytes(std::span<const uint8_t> bytes,
                                                                 std::string_view shown,
                                                                 std::string folder = {});
  static Result<std::shared_ptr<const KernelLibrary>> load(const std::string& path, std::string_view shown,
                                                           int descriptor);

  void* handle_ = nullptr;
  int descriptor_ = -1;                                            // kept open: see from_memory
  std::vector<std::pair<std::string, KernelFunction>> functions_;  // sorted by name
  std::shared_ptr<void> keep_alive_;
};

}  // namespace baton
