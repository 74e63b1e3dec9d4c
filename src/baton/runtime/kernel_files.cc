#include "baton/runtime/kernel_files.h"

#include <cstdlib>

namespace baton {
namespace {

thread_local const std::string* current = nullptr;

}  // namespace

KernelFilesScope::KernelFilesScope(std::string folder) : folder_(std::move(folder)), before_(current) {
  if (!folder_.empty()) current = &folder_;
}

KernelFilesScope::~KernelFilesScope() { current = before_; }

std::string kernel_files_folder() {
  if (current) return *current;
  const char* folder = std::getenv("BATON_KERNEL_FILES");
  return folder ? folder : "";
}

}  // namespace baton
