#include "baton/farm/measure/evict.h"

#include <algorithm>
#include <map>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace baton {
namespace {

constexpr int kProcessor = 1;  // DLPack's number

#if defined(__x86_64__) || defined(__aarch64__)
constexpr bool kFlushesLines = true;
constexpr size_t kLine = 64;

void flush_line(const char* address) {
#if defined(__x86_64__)
  _mm_clflush(address);
#else
  asm volatile("dc civac, %0" ::"r"(address) : "memory");
#endif
}

void finish_flushing() {
#if defined(__x86_64__)
  _mm_mfence();
#else
  asm volatile("dsb sy" ::: "memory");
#endif
}
#else
constexpr bool kFlushesLines = false;
constexpr size_t kLine = 64;
void flush_line(const char*) {}
void finish_flushing() {}
#endif

}  // namespace

Evictor::Evictor(const Executor& executor, size_t cache_bytes) {
  const Plan& plan = executor.plan();
  std::map<const char*, size_t> found;
  for (EntryId id = 0; id < plan.entries.size(); ++id) {
    if (plan.entries[id].device_type != kProcessor) continue;
    const NDArray array = executor.entry(id);
    if (!array.defined() || !array.bytes()) continue;
    size_t& bytes = found[static_cast<const char*>(array.data())];
    bytes = std::max(bytes, array.bytes());
  }
  for (const auto& [data, bytes] : found) ranges_.push_back({data, bytes});
  // A device that is this processor under another name (OpenCL on PoCL) has memory of its own.
  if (!kFlushesLines || executor.on_devices()) others_.resize(2 * std::max(cache_bytes, size_t{4} << 20));
}

void Evictor::evict() {
  for (const Range& range : ranges_)
    for (size_t at = 0; at < range.bytes + kLine; at += kLine)
      flush_line(range.data + std::min(at, range.bytes - 1));
  finish_flushing();
  for (size_t at = 0; at < others_.size(); at += kLine) ++others_[at];
}

}  // namespace baton
