#pragma once
// Compiled kernels on disk (design D10): one file per key, written under a temporary name and renamed,
// checksummed.
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "baton/codegen/kernel/kernel.h"

namespace baton {

/// A folder of kernels. Any number of processes and threads may use it at once. Whatever goes wrong on disk,
/// kernels are compiled anew: a damaged entry counts as none, a folder that cannot be written to gives one
/// warning.
class KernelCache {
 public:
  /// $BATON_CACHE_DIR, else $XDG_CACHE_HOME/baton, else ~/.cache/baton; empty (no cache) without any of them.
  static std::string default_directory();
  /// $BATON_CACHE_MB megabytes, else 1024.
  static int64_t default_limit_bytes();
  /// The cache in default_directory(), one per process.
  static KernelCache& shared();

  /// An empty directory: nothing is found, nothing is stored.
  explicit KernelCache(std::string directory, int64_t limit_bytes = default_limit_bytes());

  const std::string& directory() const { return directory_; }

  /// The kernel with that key, facts excepted; nothing when there is none or it is damaged (it is removed
  /// then).
  std::optional<Kernel> load(uint64_t key);
  void store(const Kernel& kernel);

  /// Other bytes that belong to a key, such as a linked library: `kind` is the file's suffix.
  std::optional<std::string> load_bytes(uint64_t key, const std::string& kind);
  void store_bytes(uint64_t key, const std::string& kind, const std::string& bytes);

  /// Removes the entries that were not used for longest until the folder holds 3/4 of its limit, if it holds
  /// more than the limit. Called by the compiler after it stored something.
  void trim();

  /// The file of an entry, there or not.
  std::string path(uint64_t key, const std::string& kind = "kernel") const;

 private:
  void warn_once(const std::string& what);

  std::string directory_;
  int64_t limit_bytes_;
  std::atomic<bool> writable_{true};
};

}  // namespace baton
