#include "baton/frontend/onnx/mapped_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "baton/support/error.h"

namespace baton::onnx {

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

}  // namespace baton::onnx
