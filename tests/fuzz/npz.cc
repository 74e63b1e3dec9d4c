// Any bytes in a file give arrays or an error.
#include "baton/frontend/npz.h"

#include <cstdint>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "baton/support/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int file = memfd_create("fuzz", 0);
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) return 0;
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  for (const bool zip : {false, true}) {
    try {
      if (zip)
        baton::read_npz(path);
      else
        baton::read_npy(path);
    } catch (const baton::Error&) {
    }
  }
  close(file);
  return 0;
}
