// Any bytes give arrays or an error, and arrays are written as bytes that give the same arrays.
#include "baton/support/base/params_blob.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace baton;
  const Result<NamedArrays> arrays = read_params_blob({data, size});
  if (!arrays.ok()) return 0;
  const std::string text = write_params_blob(*arrays);
  const auto again = read_params_blob({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  if (!again.ok() || again->size() != arrays->size()) std::abort();
  for (size_t i = 0; i < again->size(); ++i)
    if ((*again)[i].first != (*arrays)[i].first || !(*again)[i].second.equal_bytes((*arrays)[i].second))
      std::abort();
  return 0;
}
