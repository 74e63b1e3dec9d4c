// Any bytes are a module or an error. Files are changed by the messages they consist of.
#include <cstdint>
#include <cstring>
#include <string>

#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/frontend/onnx/import.h"
#include "baton/support/error.h"

#include "frontend/onnx/mutator.h"

using namespace baton;

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  initialize();
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  const std::string changed =
      onnx::mutation::Mutator(seed).changed(std::string(reinterpret_cast<const char*>(data), size));
  if (changed.size() > most) return size;
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    onnx::import_bytes(std::string(reinterpret_cast<const char*>(data), size), "fuzz.onnx", {},
                       host_context());
  } catch (const Error&) {
  }
  return 0;
}
