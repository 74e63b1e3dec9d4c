#include "baton/support/node_pool.h"

#include <mutex>
#include <new>
#include <utility>

#include <pthread.h>
#include <sys/mman.h>

#include "baton/support/sanitized.h"

namespace baton::node_pool {

namespace {

constexpr bool kPooled = !kSanitized;  // lets the sanitizer track every node

constexpr size_t kGrain = 16, kLargest = 512;  // larger nodes are rare and use the process's allocator
constexpr size_t kClasses = kLargest / kGrain + 1;
constexpr size_t kRun = size_t{32} << 10;    // the share of one size class in a region
constexpr size_t kRegion = size_t{2} << 20;  // allocated from the system at once: one huge page

// A free block; the first one of a list left by an ended thread also links to the next such list.
struct Block {
  Block* next;
  Block* next_list = nullptr;
};
static_assert(sizeof(Block) <= kGrain);

// Shared state: the region that runs are cut from, and the free lists of ended threads.
struct Common {
  std::mutex mutex;
  char* next = nullptr;
  char* end = nullptr;
  Block* left[kClasses] = {};

  Common();

  char* run() {
    const std::lock_guard lock(mutex);
    if (next == end) {
      // Half of it is excess, so that the region can be aligned to its size: a requirement of huge pages.
      void* memory = mmap(nullptr, 2 * kRegion, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) throw std::bad_alloc();
      const auto begin = reinterpret_cast<uintptr_t>(memory),
                 aligned = (begin + kRegion - 1) / kRegion * kRegion;
      if (aligned > begin) munmap(memory, aligned - begin);
      if (begin + kRegion > aligned)
        munmap(reinterpret_cast<void*>(aligned + kRegion), begin + kRegion - aligned);
      next = reinterpret_cast<char*>(aligned);
      end = next + kRegion;
      madvise(next, kRegion, MADV_HUGEPAGE);  // only advice; failure is harmless
    }
    return std::exchange(next, next + kRun);
  }
};

Common& common() {
  static Common* const all = new Common;  // never destroyed: nodes are freed until process exit
  return *all;
}

// Only the forking thread exists in a child of fork(): locks held by other threads would never be released.
Common::Common() {
  pthread_atfork([] { common().mutex.lock(); }, [] { common().mutex.unlock(); },
                 [] { common().mutex.unlock(); });
}

// One thread's free lists, used without locking.
struct Cache {
  Block* free[kClasses] = {};
  char* next[kClasses] = {};  // of the run being cut into nodes
  char* end[kClasses] = {};
  int64_t balance = 0;

  void* take(size_t size) {
    balance += static_cast<int64_t>(size * kGrain);
    if (Block* block = free[size]) {
      free[size] = block->next;
      return block;
    }
    if (static_cast<size_t>(end[size] - next[size]) < size * kGrain) return refill(size);
    return std::exchange(next[size], next[size] + size * kGrain);
  }
  void give(void* memory, size_t size) {
    balance -= static_cast<int64_t>(size * kGrain);
    free[size] = new (memory) Block{free[size]};
  }

  void* refill(size_t size) {
    Common& all = common();
    {
      const std::lock_guard lock(all.mutex);
      if (Block* block = all.left[size]) {
        all.left[size] = block->next_list;
        free[size] = block->next;
        return block;
      }
    }
    next[size] = all.run();
    end[size] = next[size] + kRun;
    return std::exchange(next[size], next[size] + size * kGrain);
  }

  // Hands all free blocks to the shared state when the thread ends.
  void leave() {
    Common& all = common();
    const std::lock_guard lock(all.mutex);
    for (size_t size = 1; size < kClasses; ++size) {
      for (; static_cast<size_t>(end[size] - next[size]) >= size * kGrain; next[size] += size * kGrain)
        free[size] = new (next[size]) Block{free[size]};
      if (!free[size]) continue;
      free[size]->next_list = std::exchange(all.left[size], free[size]);
      free[size] = nullptr;
    }
  }
};

// Null before a thread's first node, and again after it has ended: nodes held by static objects are freed
// after that.
thread_local Cache* cache [[gnu::tls_model("initial-exec")]] = nullptr;
thread_local bool ended = false;

struct Heir {
  Cache own;
  Heir() { cache = &own; }
  ~Heir() {
    cache = nullptr;
    ended = true;
    own.leave();
  }
};

Cache* enter() {
  if (ended) return nullptr;
  thread_local Heir heir;
  return cache;
}

size_t size_class(size_t bytes) { return (bytes + kGrain - 1) / kGrain; }

}  // namespace

void* take(size_t bytes) {
  if (!kPooled || bytes > kLargest || bytes == 0) return ::operator new(bytes);
  if (Cache* own = cache ? cache : enter()) return own->take(size_class(bytes));
  Cache passing;  // for a thread that has ended
  void* memory = passing.take(size_class(bytes));
  passing.leave();
  return memory;
}

void give(void* memory, size_t bytes) noexcept {
  if (!kPooled || bytes > kLargest || bytes == 0) return ::operator delete(memory);
  if (Cache* own = cache ? cache : enter()) return own->give(memory, size_class(bytes));
  Cache passing;
  passing.give(memory, size_class(bytes));
  passing.leave();
}

int64_t balance() { return cache ? cache->balance : 0; }

}  // namespace baton::node_pool
