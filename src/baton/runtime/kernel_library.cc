#include "baton/runtime/kernel_library.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "baton/runtime/marks.h"
#include "baton/runtime/system/allocator.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/base/checksum.h"
#include "baton/support/base/environment.h"

namespace baton {
namespace {

constexpr size_t kReadStep = size_t{1} << 18;

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

/// Stores the bytes as a file in `folder` named by their hash, unless it exists. Written under a temporary
/// name and renamed, since a library may be mapped from it.
Status keep_file(const std::string& folder, std::span<const uint8_t> bytes, std::string& path) {
  char name[48];
  std::snprintf(name, sizeof name, "/kernels-%016llx.so",
                static_cast<unsigned long long>(checksum64(bytes.data(), bytes.size())));
  char real[PATH_MAX];
  if (!realpath(folder.c_str(), real))
    return Status::io("kernels cannot be kept as files in `" + folder + "`: " + std::strerror(errno));
  path = std::string(real) + name;
  struct stat there;
  if (stat(path.c_str(), &there) == 0 && there.st_size == static_cast<off_t>(bytes.size()))
    return Status::success();
  std::string partial = path + "-XXXXXX";
  const int descriptor = mkostemp(partial.data(), O_CLOEXEC);
  if (descriptor < 0)
    return Status::io("kernels cannot be kept as files in `" + folder + "`: " + std::strerror(errno));
  Status status = write_all(descriptor, bytes);
  fchmod(descriptor, 0755);
  close(descriptor);
  if (status.ok() && rename(partial.c_str(), path.c_str()) != 0)
    status = Status::io("kernels cannot be kept as `" + path + "`: " + std::strerror(errno));
  if (!status.ok()) unlink(partial.c_str());
  return status;
}

/// Checks that the file is complete: loading a truncated library fails with a bus error. A library ends with
/// its section table, so truncation is always detected.
bool is_whole_library(int descriptor) {
  struct stat about;
  Elf64_Ehdr header;
  if (fstat(descriptor, &about) != 0 || pread(descriptor, &header, sizeof header, 0) != sizeof header)
    return false;
  const auto bytes = static_cast<uint64_t>(about.st_size);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
    return false;
  const auto inside = [bytes](uint64_t offset, uint64_t length) {
    return offset <= bytes && length <= bytes - offset;
  };
  if (!inside(header.e_shoff, uint64_t{header.e_shnum} * header.e_shentsize)) return false;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    const auto at = static_cast<off_t>(header.e_phoff + i * sizeof segment);
    if (pread(descriptor, &segment, sizeof segment, at) != sizeof segment) return false;
    if (segment.p_type == PT_LOAD && !inside(segment.p_offset, segment.p_filesz)) return false;
  }
  return true;
}

/// Kernels may call libm functions (pow, erf). A plain linker does not record that dependency, and the
/// program may not have loaded it: load it with global visibility.
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
  if (!is_whole_library(descriptor)) {
    return Status::bad_data("the kernels " + std::string(shown) +
                            " are no shared library, or not a complete one: build the model again");
  }
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
  // Not dlopen(path): it would return the old library when a file has been replaced, and crash when the file
  // is truncated later.
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (!file) return Status::io("cannot open the kernels `" + path + "`: " + std::strerror(errno));
  std::vector<uint8_t> bytes;
  size_t got = 0;
  do {
    bytes.resize(bytes.size() + kReadStep);
    got = std::fread(bytes.data() + bytes.size() - kReadStep, 1, kReadStep, file);
  } while (got == kReadStep);
  bytes.resize(bytes.size() - kReadStep + got);
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  if (failed) return Status::io("cannot read the kernels `" + path + "`: " + std::strerror(errno));
  return from_bytes(bytes, "`" + path + "`");
}

Result<std::shared_ptr<const KernelLibrary>> KernelLibrary::from_memory(std::span<const uint8_t> bytes,
                                                                        const std::string& files) {
  return from_bytes(bytes, "(in memory)", files);
}

Result<std::shared_ptr<const KernelLibrary>> KernelLibrary::from_bytes(std::span<const uint8_t> bytes,
                                                                       std::string_view shown,
                                                                       std::string folder) {
  std::string path;
  bool remove = false;
  if (folder.empty()) folder = environment()->kernel_files;
  if (!folder.empty()) {
    if (Status status = keep_file(folder, bytes, path); !status.ok()) return status;
    const int kept = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (kept < 0) return Status::io("cannot open the kernels `" + path + "`: " + std::strerror(errno));
    return load(path, shown, kept);
  }
  int descriptor = memfd_create("baton-kernels", MFD_CLOEXEC);
  if (descriptor >= 0) {
    // The descriptor stays open while the library is loaded: dlopen identifies libraries by path, and would
    // return this one for a later file with the same number.
    path = "/proc/self/fd/" + std::to_string(descriptor);
  } else {
    path = temporary_folder() + "/baton-kernels-XXXXXX";
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
  Result<std::shared_ptr<const KernelLibrary>> library = load(path, shown, descriptor);
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
