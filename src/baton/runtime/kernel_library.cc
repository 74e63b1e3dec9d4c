#include "baton/runtime/kernel_library.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "baton/runtime/allocator.h"
#include "baton/runtime/marks.h"
#include "baton/runtime/thread_pool.h"

namespace baton {
namespace {

constexpr baton_kernel_table kServices = {
    BATON_KERNEL_TABLE_VERSION, 0, scratch_allocate, scratch_free, parallel_for, mark_fenced,
};

Status write_all(int descriptor, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      return Status::io(std::string("cannot write the kernels to memory: ") + std::strerror(errno));
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return Status::success();
}

/// Kernels may call functions of the C mathematics library (pow, erf). A linker alone cannot name it as a
/// dependency, and a program need not have it loaded: put it where every library finds it.
void load_mathematics() {
  static void* const handle = dlopen("libm.so.6", RTLD_NOW | RTLD_GLOBAL);
  (void)handle;
}

}  // namespace

const baton_kernel_table& kernel_services() { return kServices; }

Result<std::shared_ptr<const KernelLibrary>> KernelLibrary::load(const std::string& path,
                                                                 std::string_view shown, int descriptor) {
  load_mathematics();
  std::shared_ptr<KernelLibrary> library(new KernelLibrary);
  library->descriptor_ = descriptor;
  library->handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library->handle_) {
    const char* reason = dlerror();
    return Status::bad_data("cannot load the kernels " + std::string(shown) + ": " +
                            (reason ? reason : "unknown reason"));
  }
  auto* const table = static_cast<baton_kernel_table*>(dlsym(library->handle_, "baton_kernel_table"));
  if (!table) {
    return Status::bad_data("the library " + std::string(shown) +
                            " holds no kernels of Baton (no baton_kernel_table in it)");
  }
  if (table->version != BATON_KERNEL_TABLE_VERSION) {
    return Status::bad_data("the kernels " + std::string(shown) + " were built for version " +
                            std::to_string(table->version) +
                            " of the runtime's interface, this runtime has " +
                            std::to_string(BATON_KERNEL_TABLE_VERSION) + ": build the model again");
  }
  *table = kServices;
  return std::shared_ptr<const KernelLibrary>(std::move(library));
}

Result<std::shared_ptr<const KernelLibrary>> KernelLibrary::open(const std::string& path) {
  // Without a slash dlopen would search the system's folders.
  return load(path.find('/') == std::string::npos ? "./" + path : path, "`" + path + "`", -1);
}

Result<std::shared_ptr<const KernelLibrary>> KernelLibrary::from_memory(std::span<const uint8_t> bytes) {
  std::string path;
  bool remove = false;
  int descriptor = memfd_create("baton-kernels", MFD_CLOEXEC);
  if (descriptor >= 0) {
    // The descriptor stays open while the library is loaded: dlopen knows libraries by path, and a second one
    // under the same number would be taken for the first.
    path = "/proc/self/fd/" + std::to_string(descriptor);
  } else {
    const char* folder = std::getenv("TMPDIR");
    path = std::string(folder && *folder ? folder : "/tmp") + "/baton-kernels-XXXXXX";
    descriptor = mkostemp(path.data(), O_CLOEXEC);
    if (descriptor < 0)
      return Status::io("cannot create a temporary file for kernels: " + std::string(std::strerror(errno)));
    remove = true;
  }
  if (Status status = write_all(descriptor, bytes); !status.ok()) {
    close(descriptor);
    if (remove) unlink(path.c_str());
    return status;
  }
  Result<std::shared_ptr<const KernelLibrary>> library = load(path, "(in memory)", descriptor);
  if (remove) unlink(path.c_str());
  return library;
}

std::shared_ptr<const KernelLibrary> KernelLibrary::from_functions(
    std::vector<std::pair<std::string, KernelFunction>> functions, std::shared_ptr<void> keep_alive) {
  std::shared_ptr<KernelLibrary> library(new KernelLibrary);
  library->functions_ = std::move(functions);
  std::sort(library->functions_.begin(), library->functions_.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  library->keep_alive_ = std::move(keep_alive);
  return library;
}

KernelLibrary::~KernelLibrary() {
  if (handle_) dlclose(handle_);
  if (descriptor_ >= 0) close(descriptor_);
}

KernelFunction KernelLibrary::find(std::string_view name) const {
  if (handle_) return reinterpret_cast<KernelFunction>(symbol(std::string(name) + "_argv"));
  const auto found =
      std::lower_bound(functions_.begin(), functions_.end(), name,
                       [](const auto& function, std::string_view wanted) { return function.first < wanted; });
  return found != functions_.end() && found->first == name ? found->second : nullptr;
}

void* KernelLibrary::symbol(const std::string& name) const {
  return handle_ ? dlsym(handle_, name.c_str()) : nullptr;
}

}  // namespace baton
