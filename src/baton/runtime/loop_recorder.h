// Records which thread works on which parallel loop, and when.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace baton {

/// What one thread did of a parallel loop.
struct LoopSpan {
  int thread = 0;               ///< 0: the caller; n: the n-th thread of the pool
  uint64_t begin = 0, end = 0;  ///< ticks()
  int iterations = 0;
};

/// RAII: records the parallel loops of the calling thread while it exists; others' loops are not seen.
/// Without one a loop costs a null check more.
class LoopRecorder {
 public:
  /// Spans beyond `capacity` are counted, not kept.
  explicit LoopRecorder(size_t capacity);
  ~LoopRecorder();
  LoopRecorder(const LoopRecorder&) = delete;
  LoopRecorder& operator=(const LoopRecorder&) = delete;

  /// Thread safe; for the pool.
  void add(const LoopSpan& span);
  /// Between loops. In the order in which threads finished.
  std::vector<LoopSpan> spans() const;
  size_t lost() const;
  void clear() { count_.store(0, std::memory_order_relaxed); }

  /// That of the calling thread; null: none.
  static LoopRecorder* current();

 private:
  std::vector<LoopSpan> spans_;
  std::atomic<size_t> count_{0};
  LoopRecorder* before_;
};

}  // namespace baton
