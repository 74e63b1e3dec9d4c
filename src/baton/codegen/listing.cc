#include "baton/codegen/listing.h"

#include <mutex>
#include <unordered_set>

#include <sys/mman.h>
#include <unistd.h>

#include "baton/codegen/kernel/kernel_key.h"
#include "baton/support/error.h"

namespace baton {

MemoryFile::MemoryFile() : descriptor_(memfd_create("baton-listing", MFD_CLOEXEC)) {
  if (descriptor_ < 0) throw Error("cannot create a file in memory for assembly text");
}

MemoryFile::~MemoryFile() { close(descriptor_); }

std::string MemoryFile::path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

std::string MemoryFile::text() const {
  std::string text(static_cast<size_t>(lseek(descriptor_, 0, SEEK_END)), '\0');
  const ssize_t got = pread(descriptor_, text.data(), text.size(), 0);
  BATON_CHECK(got == static_cast<ssize_t>(text.size()), "assembly text cannot be read back");
  return text;
}

std::string unseen_symbol(const KernelKey& key) {
  static std::mutex mutex;
  static std::unordered_set<std::string> seen;
  const std::lock_guard lock(mutex);
  // Preserves the last digits: string tables in objects are sorted by suffix.
  std::string symbol = kernel_symbol(key);
  for (uint64_t more = 1; !seen.insert(symbol).second; ++more)
    symbol = kernel_symbol({key.high + 0x9E3779B97F4A7C15u * more, key.low});
  return symbol;
}

std::string renamed(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

void rename(KernelShape& shape, const std::string& from, const std::string& to) {
  for (FunctionShape& function : shape.functions) {
    function.symbol = renamed(function.symbol, from, to);
    for (CodeSegment& segment : function.segments) segment.name = renamed(segment.name, from, to);
  }
}

}  // namespace baton
