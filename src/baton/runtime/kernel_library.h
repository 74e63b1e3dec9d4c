// Loaded kernel libraries.
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

/// A kernel. Arguments are pointers to one halide_buffer_t per tensor, inputs in order, then outputs.
/// Dimension 0 of a buffer is the last axis of the tensor. Returns 0 or an error code.
using KernelFunction = int (*)(void** args);

/// The runtime services (memory, threads, stage marks) for kernels that were not linked with the shim
/// (Halide's JIT).
const baton_kernel_table& kernel_services();

/// A library of kernels, unloaded with its last owner.
class KernelLibrary {
 public:
  /// Loads a shared library linked with the shim. The file is read once and not accessed later.
  static Result<std::shared_ptr<const KernelLibrary>> open(const std::string& path);

  /// The same from bytes. Leaves nothing on disk, unless `files` or, if that is empty, the environment
  /// variable BATON_KERNEL_FILES names a folder: the library is then stored there under a name derived from
  /// its contents, where external programs (perf, gdb) find its symbols.
  static Result<std::shared_ptr<const KernelLibrary>> from_memory(std::span<const uint8_t> bytes,
                                                                  const std::string& files = {});

  /// Functions already in memory; `keep_alive` owns their code.
  static std::shared_ptr<const KernelLibrary> from_functions(
      std::vector<std::pair<std::string, KernelFunction>> functions, std::shared_ptr<void> keep_alive);

  ~KernelLibrary();
  KernelLibrary(const KernelLibrary&) = delete;
  KernelLibrary& operator=(const KernelLibrary&) = delete;

  /// The named kernel (symbol `<name>_argv` in a shared library), or null.
  KernelFunction find(std::string_view name) const;

  /// The address of an exported symbol of a shared library, or null.
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
