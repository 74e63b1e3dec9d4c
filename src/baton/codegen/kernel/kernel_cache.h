#pragma once
// The on-disk cache of compiled kernels (design D10): one checksummed file per key, written under a temporary
// name and renamed.
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "baton/codegen/kernel/kernel.h"

namespace baton {

/// A cache folder. Safe for concurrent use by any number of processes and threads. Disk errors never fail a
/// build: damaged entries are ignored, a folder that is not writable gives one warning.
class KernelCache {
 public:
  /// $BATON_CACHE_DIR, else $XDG_CACHE_HOME/baton, else ~/.cache/baton; empty (no cache) if none is set.
  static std::string default_directory();
  /// $BATON_CACHE_MB megabytes, else 1024.
  static int64_t default_limit_bytes();
  /// The cache in default_directory(), one per process.
  static KernelCache& shared();

  /// With an empty directory nothing is found or stored.
  explicit KernelCache(std::string directory, int64_t limit_bytes = default_limit_bytes());

  const std::string& directory() const { return directory_; }

  /// The kernel with that key, without facts; nullopt when there is none, or it is damaged (and then
  /// removed).
  std::optional<Kernel> load(const KernelKey& key);
  void store(const Kernel& kernel);

  /// Other data for a key, such as a linked library or a device sheet; `kind` is the file's suffix.
  std::optional<std::string> load_bytes(const KernelKey& key, const std::string& kind);
  void store_bytes(const KernelKey& key, const std::string& kind, const std::string& bytes);

  /// If the folder exceeds its limit, removes least recently used entries until it holds 3/4 of the limit.
  void trim();
  /// The same, but only once for about every 1/64 of the limit that all processes together have stored:
  /// looking at a full folder of 130,000 files takes half a second. Called by the compiler after storing.
  void trim_if_due();

  /// The path of an entry, whether it exists or not.
  std::string path(const KernelKey& key, const std::string& kind = "kernel") const;

 private:
  void warn_once(const std::string& what);

  std::string directory_;
  int64_t limit_bytes_;
  std::atomic<int64_t> stored_{0};  ///< bytes since trim_if_due()
  std::atomic<bool> writable_{true};
};

}  // namespace baton
