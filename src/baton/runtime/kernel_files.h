// Libraries of kernels as files, so that programs that look from outside (perf, gdb) find their symbols: a
// library in memory has no name that another process could open.
#pragma once

#include <string>

namespace baton {

/// While one lives, libraries that are loaded from bytes by this thread stand as files in `folder`, named
/// after their contents, and stay there. Without one, the environment variable BATON_KERNEL_FILES may name a
/// folder.
class KernelFilesScope {
 public:
  /// An empty folder changes nothing.
  explicit KernelFilesScope(std::string folder);
  ~KernelFilesScope();
  KernelFilesScope(const KernelFilesScope&) = delete;
  KernelFilesScope& operator=(const KernelFilesScope&) = delete;

 private:
  std::string folder_;
  const std::string* before_;
};

/// The folder for the calling thread; empty when libraries stay in memory.
std::string kernel_files_folder();

}  // namespace baton
