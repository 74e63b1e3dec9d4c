// Any bytes give an artifact or an error; checksums are made right first, or nothing behind them would ever
// be reached.
#include "baton/runtime/artifact.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "baton/support/base/checksum.h"

namespace {

constexpr size_t kHeader = 32, kEntry = 64, kTableSum = 24;  // the layout of artifact.h

void mend(std::vector<uint8_t>& file) {
  if (file.size() < kHeader) return;
  uint32_t sections = 0;
  std::memcpy(&sections, file.data() + 12, sizeof sections);
  const uint64_t bytes = file.size();
  std::memcpy(file.data() + 16, &bytes, sizeof bytes);
  if (sections > (file.size() - kHeader) / kEntry) return;
  for (uint32_t i = 0; i < sections; ++i) {
    uint8_t* entry = file.data() + kHeader + i * kEntry;
    uint64_t offset = 0, length = 0;
    std::memcpy(&offset, entry + 32, sizeof offset);
    std::memcpy(&length, entry + 40, sizeof length);
    if (offset > file.size() || length > file.size() - offset) continue;
    const uint64_t sum = baton::checksum64(file.data() + offset, length);
    std::memcpy(entry + 48, &sum, sizeof sum);
  }
  const uint64_t sum = baton::checksum64(file.data() + kHeader, sections * kEntry);
  std::memcpy(file.data() + kTableSum, &sum, sizeof sum);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> file(data, data + size);
  mend(file);
  const auto artifact = baton::Artifact::from_memory(file, true);
  if (artifact.ok()) (void)(*artifact)->check_params();
  return 0;
}
