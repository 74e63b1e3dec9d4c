#pragma once
// Evicts what a model reads and writes from the processor's caches.
#include <cstddef>
#include <vector>

#include "baton/runtime/executor.h"

namespace baton {

class Evictor {
 public:
  /// `cache_bytes`: of the largest cache.
  Evictor(const Executor& executor, size_t cache_bytes);
  /// Afterwards no input, constant, intermediate or output of the model is in any cache.
  void evict();

 private:
  struct Range {
    const char* data;
    size_t bytes;
  };
  std::vector<Range> ranges_;
  std::vector<char> others_;  // written where single lines cannot be flushed
};

}  // namespace baton
