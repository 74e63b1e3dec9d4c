#include "baton/runtime/system/allocator.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>

#include <pthread.h>

#include "baton/runtime/system/timers.h"
#include "baton/support/base/memory.h"

namespace baton {
namespace {

constexpr size_t kAlignment = 128;  // as guaranteed by Halide's own allocator
constexpr size_t kSmallest = 256;
constexpr size_t kLargest = size_t{1} << 40;
constexpr int kStepsPerDouble = 4;  // at most a quarter of a block is unused
constexpr int kClasses = 40 * kStepsPerDouble;
constexpr int kKeptPerThread = 2;  // free blocks of one size cached per thread
constexpr size_t kColours = 16;    // different distances to a page boundary, see take_from_system

/// Precedes every block.
struct alignas(kAlignment) Header {
  void* base;
  uint32_t size_class;
  Header* next;
};
static_assert(sizeof(Header) == kAlignment);

/// Size classes are 2^k * (4, 5, 6, 7) / 4.
int class_of(size_t bytes) {
  if (bytes <= kSmallest) return 0;
  const size_t wanted = bytes - 1;
  const int log = std::bit_width(wanted) - 1;
  const int step = static_cast<int>((wanted >> (log - 2)) & 3);
  return (log - std::bit_width(kSmallest) + 1) * kStepsPerDouble + step + 1;
}

size_t bytes_of(int size_class) {
  if (size_class == 0) return kSmallest;
  const int step = (size_class - 1) % kStepsPerDouble, doubles = (size_class - 1) / kStepsPerDouble;
  return (kSmallest << doubles) / kStepsPerDouble * static_cast<size_t>(kStepsPerDouble + step + 1);
}

/// A stack of free blocks under a spin lock: held for a few instructions only.
class FreeList {
 public:
  void push(Header* block) {
    lock();
    block->next = top_;
    top_ = block;
    unlock();
  }
  Header* pop() {
    lock();
    Header* block = top_;
    if (block) top_ = block->next;
    unlock();
    return block;
  }
  Header* take_all() {
    lock();
    Header* block = top_;
    top_ = nullptr;
    unlock();
    return block;
  }

 private:
  void lock() {
    while (busy_.test_and_set(std::memory_order_acquire)) {
#if defined(__x86_64__)
      _mm_pause();
#endif
    }
  }
  void unlock() { busy_.clear(std::memory_order_release); }

  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  Header* top_ = nullptr;
};

struct Shared {
  std::array<FreeList, kClasses> lists;
  std::atomic<uint64_t> system_allocations{0};
  std::atomic<uint64_t> reserved_bytes{0};
  std::atomic<uint64_t> idle_bytes{0};
  std::atomic<uint32_t> trims{0};
  pthread_key_t on_thread_end;
};

/// A thread's cache: it gets back blocks that are still in its CPU cache.
struct Kept {
  uint32_t trims = 0;
  std::array<std::array<Header*, kKeptPerThread>, kClasses> blocks{};
};

void thread_ends(void* kept);

Shared& shared() {
  static Shared* const instance = [] {
    auto* fresh = new Shared;  // never deleted: threads may end after static destructors
    pthread_key_create(&fresh->on_thread_end, thread_ends);
    return fresh;
  }();
  return *instance;
}

__attribute__((tls_model("initial-exec"))) thread_local Kept* kept_here = nullptr;

size_t give_to_system(Header* block) {
  const size_t bytes = bytes_of(static_cast<int>(block->size_class));
  shared().reserved_bytes.fetch_sub(bytes, std::memory_order_relaxed);
  std::free(block->base);
  return bytes;
}

Header* take_from_system(int size_class) {
  Shared& all = shared();
  const size_t bytes = bytes_of(size_class);
  const uint64_t number = all.system_allocations.fetch_add(1, std::memory_order_relaxed);
  // Large blocks are placed at different offsets within a page: a store to one would otherwise delay loads
  // from all others at the same offset (the CPU compares the low 12 bits first).
  const size_t colour = bytes >= 4096 ? number % kColours * 2 * kAlignment : 0;
  auto* base = static_cast<uint8_t*>(allocate_aligned(bytes + colour + 3 * kAlignment));
  if (!base) return nullptr;
  const auto start = (reinterpret_cast<uintptr_t>(base) + kAlignment - 1) / kAlignment * kAlignment;
  auto* block = reinterpret_cast<Header*>(start + colour);
  block->base = base;
  block->size_class = static_cast<uint32_t>(size_class);
  all.reserved_bytes.fetch_add(bytes, std::memory_order_relaxed);
  return block;
}

size_t trim_own(Kept* kept) {
  size_t bytes = 0;
  for (auto& blocks : kept->blocks) {
    for (Header*& block : blocks) {
      if (!block) continue;
      bytes += give_to_system(block);
      block = nullptr;
    }
  }
  kept->trims = shared().trims.load(std::memory_order_relaxed);
  return bytes;
}

void thread_ends(void* argument) {
  auto* kept = static_cast<Kept*>(argument);
  Shared& all = shared();
  for (int c = 0; c < kClasses; ++c) {
    for (Header* block : kept->blocks[static_cast<size_t>(c)]) {
      if (!block) continue;
      all.lists[static_cast<size_t>(c)].push(block);
      all.idle_bytes.fetch_add(bytes_of(c), std::memory_order_relaxed);
    }
  }
  kept_here = nullptr;
  delete kept;
}

Kept* keep() {
  Kept* kept = kept_here;
  if (!kept) [[unlikely]] {
    kept = kept_here = new Kept;
    kept->trims = shared().trims.load(std::memory_order_relaxed);
    pthread_setspecific(shared().on_thread_end, kept);
  }
  return kept;
}

Header* take_block(size_t bytes) {
  Shared& all = shared();
  Kept* const kept = keep();
  if (kept->trims != all.trims.load(std::memory_order_relaxed)) [[unlikely]]
    trim_own(kept);
  const int size_class = class_of(bytes);
  for (Header*& mine : kept->blocks[static_cast<size_t>(size_class)]) {
    if (!mine) continue;
    Header* const block = mine;
    mine = nullptr;
    return block;
  }
  Header* block = all.lists[static_cast<size_t>(size_class)].pop();
  if (block) {
    all.idle_bytes.fetch_sub(bytes_of(size_class), std::memory_order_relaxed);
  } else {
    block = take_from_system(size_class);
  }
  return block;
}

}  // namespace

void* scratch_allocate(size_t bytes) {
  if (bytes > kLargest) return nullptr;
  Header* const block = take_block(bytes);
  if (!block) return nullptr;
  clear_past_end(block + 1, bytes);
  return block + 1;
}

void scratch_free(void* pointer) {
  if (!pointer) return;
  Header* const block = static_cast<Header*>(pointer) - 1;
  const size_t size_class = block->size_class;
  for (Header*& mine : keep()->blocks[size_class]) {
    if (mine) continue;
    mine = block;
    return;
  }
  Shared& all = shared();
  all.lists[size_class].push(block);
  all.idle_bytes.fetch_add(bytes_of(static_cast<int>(size_class)), std::memory_order_relaxed);
}

ScratchStats scratch_stats() {
  const Shared& all = shared();
  return {all.system_allocations.load(), all.reserved_bytes.load(), all.idle_bytes.load()};
}

size_t scratch_trim() {
  Shared& all = shared();
  all.trims.fetch_add(1, std::memory_order_relaxed);
  size_t bytes = kept_here ? trim_own(kept_here) : 0;
  for (FreeList& list : all.lists) {
    for (Header* block = list.take_all(); block;) {
      Header* const next = block->next;
      const size_t freed = give_to_system(block);
      all.idle_bytes.fetch_sub(freed, std::memory_order_relaxed);
      bytes += freed;
      block = next;
    }
  }
  return bytes;
}

}  // namespace baton
