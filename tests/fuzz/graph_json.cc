// Any bytes give a plan or an error.
#include <cstdint>
#include <string_view>

#include "baton/runtime/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)baton::Plan::parse({reinterpret_cast<const char*>(data), size});
  return 0;
}
