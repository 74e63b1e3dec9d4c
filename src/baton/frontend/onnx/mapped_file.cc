#include "baton/frontend/onnx/mapped_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "baton/support/error.h"

namespace baton::onnx {

namespace {

constexpr uintptr_t kPage = 4096;
constexpr uintptr_t kLargePage = uintptr_t{2} << 20;

uintptr_t address(const char* at) { return reinterpret_cast<uintptr_t>(at); }

}  // namespace

MappedFile map_file(const std::string& path) {
  const auto failed = [&](const char* what) {
    return Error(path + ": " + what + ": " + std::strerror(errno));
  };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw failed("cannot be read");
  struct stat about;
  const bool is_file = fstat(file, &about) == 0 && S_ISREG(about.st_mode);
  const auto bytes = is_file ? static_cast<size_t>(about.st_size) : 0;
  void* data = bytes ? mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0) : nullptr;
  ::close(file);
  if (!is_file) throw Error(path + ": cannot be read: it is not a file");
  if (data == MAP_FAILED) throw failed("cannot be mapped");
  return {{static_cast<const char*>(data), bytes},
          std::shared_ptr<const void>(data, [bytes](const void* mapped) {
            if (mapped) munmap(const_cast<void*>(mapped), bytes);
          })};
}

/// A clean page of a private mapping is read again from the file; other memory would be lost. The kernel maps
/// whole large pages of the file, so that what lies before `bytes` may be there again.
void give_back(std::string_view bytes, std::string_view mapped) {
  if (bytes.data() < mapped.data() || bytes.data() + bytes.size() > mapped.data() + mapped.size()) return;
  const uintptr_t begin = std::max(address(bytes.data()) / kLargePage * kLargePage, address(mapped.data()));
  const uintptr_t end = (address(bytes.data()) + bytes.size()) / kPage * kPage;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace baton::onnx
