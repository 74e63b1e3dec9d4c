#include "baton/runtime/marks.h"

#include <mutex>
#include <new>

#include <pthread.h>

#include "baton/runtime/system/timers.h"

namespace baton {
namespace {

/// One thread's slots. Blocks outlive their threads (their sums still count) and are reused by later threads.
struct Block {
  uint64_t last = 0;
  int current = 0;
  bool in_use = false;
  uint64_t steps_back = 0;
  Block* next = nullptr;
  MarkTable slots;
};

struct Registry {
  std::mutex mutex;
  Block* blocks = nullptr;
  pthread_key_t on_thread_end;
};

void give_back(void* block);

Registry& registry() {
  static Registry* const instance = [] {
    auto* fresh = new Registry;  // never deleted: threads may end after static destructors
    pthread_key_create(&fresh->on_thread_end, give_back);
    return fresh;
  }();
  return *instance;
}

// initial-exec: one load instead of a call. Uses eight bytes of the process's static TLS reserve.
__attribute__((tls_model("initial-exec"))) thread_local Block* own_block = nullptr;

void give_back(void* block) {
  const std::lock_guard lock(registry().mutex);
  static_cast<Block*>(block)->in_use = false;
  own_block = nullptr;
}

Block* attach() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  Block* block = all.blocks;
  while (block && block->in_use) block = block->next;
  if (!block) {
    block = new Block;
    block->next = all.blocks;
    all.blocks = block;
  }
  block->in_use = true;
  block->current = 0;
  block->last = fenced_ticks();
  pthread_setspecific(all.on_thread_end, block);
  return own_block = block;
}

}  // namespace

int mark_fenced(int id) { return mark_at(id, fenced_ticks()); }

int mark_at(int id, uint64_t now) {
  Block* block = own_block;
  if (!block) [[unlikely]]
    block = attach();
  MarkSlot& slot = block->slots[static_cast<size_t>(block->current)];
  if (now >= block->last) [[likely]]
    slot.ticks += now - block->last;
  else
    ++block->steps_back;
  ++slot.visits;
  block->last = now;
  block->current = static_cast<unsigned>(id) < kMarkSlots ? id : 0;
  return 0;
}

void reset_marks() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (Block* block = all.blocks; block; block = block->next) {
    block->slots = {};
    block->steps_back = 0;
    block->current = 0;
    block->last = fenced_ticks();
  }
}

MarkTable collect_marks() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  MarkTable sum{};
  for (const Block* block = all.blocks; block; block = block->next) {
    for (int i = 0; i < kMarkSlots; ++i) {
      sum[static_cast<size_t>(i)].ticks += block->slots[static_cast<size_t>(i)].ticks;
      sum[static_cast<size_t>(i)].visits += block->slots[static_cast<size_t>(i)].visits;
    }
  }
  return sum;
}

uint64_t clock_steps() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  uint64_t steps = 0;
  for (const Block* block = all.blocks; block; block = block->next) steps += block->steps_back;
  return steps;
}

}  // namespace baton
