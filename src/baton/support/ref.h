#pragma once
// Intrusive reference counting. Releasing the head of a long chain destroys it with a worklist instead of
// recursion: a million calls are freed on the default stack.
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "baton/support/base/ref.h"
#include "baton/support/node_pool.h"

namespace baton {

class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  virtual ~RefCounted() = default;

  static void* operator new(size_t bytes) { return node_pool::take(bytes); }
  static void operator delete(void* memory, size_t bytes) { node_pool::give(memory, bytes); }

  void retain() const { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() const {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(this);
  }
  uint32_t use_count() const { return count_.load(std::memory_order_relaxed); }

 private:
  static void destroy(const RefCounted* object);
  mutable std::atomic<uint32_t> count_{0};
};

}  // namespace baton
