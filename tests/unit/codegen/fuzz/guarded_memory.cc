#include "codegen/fuzz/guarded_memory.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>

#include <Halide.h>
#include <sys/mman.h>
#include <unistd.h>

namespace baton::fuzz {
namespace {

constexpr size_t kArrayAlignment = 64, kScratchAlignment = 128, kScratchSlack = 128;
constexpr uint8_t kFill = 0xff;  // NaN, or -1

size_t page_size() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

/// The writable pages between two forbidden ones, and the data in them.
struct GuardedBlock {
  uint8_t* pages = nullptr;
  size_t pages_size = 0;  ///< without the forbidden pages
  uint8_t* data = nullptr;
  size_t size = 0;

  bool intact() const {
    for (const uint8_t* at = pages; at < data; ++at)
      if (*at != kFill) return false;
    for (const uint8_t* at = data + size; at < pages + pages_size; ++at)
      if (*at != kFill) return false;
    return true;
  }
};

class GuardedBlocks {
 public:
  void* add(size_t size, size_t alignment, size_t slack, GuardAt at) {
    const size_t page = page_size(), rounded = (size + alignment - 1) / alignment * alignment;
    GuardedBlock block;
    block.size = size;
    block.pages_size = (rounded + 2 * slack + page - 1) / page * page;
    void* all = mmap(nullptr, block.pages_size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) throw std::runtime_error("no memory for a guarded buffer");
    block.pages = static_cast<uint8_t*>(all) + page;
    if (block.pages_size > 0) {
      mprotect(block.pages, block.pages_size, PROT_READ | PROT_WRITE);
      std::memset(block.pages, kFill, block.pages_size);
    }
    block.data =
        at == GuardAt::kBegin ? block.pages + slack : block.pages + block.pages_size - slack - rounded;
    const std::lock_guard lock(mutex_);
    blocks_[block.data] = block;
    return block.data;
  }

  GuardedBlock find(const void* data) {
    const std::lock_guard lock(mutex_);
    return blocks_.at(data);
  }

  /// Whether nothing was written next to it.
  bool remove(const void* data) {
    const GuardedBlock block = find(data);
    const bool intact = block.intact();
    {
      const std::lock_guard lock(mutex_);
      blocks_.erase(data);
    }
    munmap(block.pages - page_size(), block.pages_size + 2 * page_size());
    return intact;
  }

 private:
  std::mutex mutex_;
  std::map<const void*, GuardedBlock> blocks_;
};

GuardedBlocks& guarded_blocks() {
  static auto* const blocks = new GuardedBlocks;  // arrays may live longer than static objects
  return *blocks;
}

std::atomic<int> damaged_scratch{0};
std::atomic<int> next_scratch{0};

void* allocate_guarded(Halide::JITUserContext*, size_t bytes) {
  const GuardAt at = next_scratch++ % 2 ? GuardAt::kBegin : GuardAt::kEnd;
  return guarded_blocks().add(bytes, kScratchAlignment, kScratchSlack, at);
}
void free_guarded(Halide::JITUserContext*, void* block) {
  if (block && !guarded_blocks().remove(block)) ++damaged_scratch;
}

}  // namespace

NDArray guarded_array(const Shape& shape, DType dtype, GuardAt at) {
  const auto bytes = byte_count(shape, dtype);
  if (!bytes) throw std::runtime_error("too large a shape");
  void* data = guarded_blocks().add(static_cast<size_t>(*bytes), kArrayAlignment, 0, at);
  return NDArray::view(data, shape, dtype, [](void* block) { guarded_blocks().remove(block); }, data);
}

NDArray guarded_copy(const NDArray& array, GuardAt at) {
  NDArray copy = guarded_array(array.shape(), array.dtype(), at);
  if (array.bytes() > 0) std::memcpy(copy.data(), array.data(), array.bytes());
  return copy;
}

void protect(const NDArray& array) {
  const GuardedBlock block = guarded_blocks().find(array.data());
  if (block.pages_size > 0) mprotect(block.pages, block.pages_size, PROT_READ);
}

bool is_intact(const NDArray& array) { return guarded_blocks().find(array.data()).intact(); }

void guard_scratch() {
  Halide::JITHandlers handlers;
  handlers.custom_malloc = allocate_guarded;
  handlers.custom_free = free_guarded;
  const Halide::JITHandlers before = Halide::Internal::JITSharedRuntime::set_default_handlers(handlers);
  handlers.custom_do_par_for = before.custom_do_par_for;
  Halide::Internal::JITSharedRuntime::set_default_handlers(handlers);
}

int take_scratch_damage() { return damaged_scratch.exchange(0); }

}  // namespace baton::fuzz
