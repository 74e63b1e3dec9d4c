#include "baton/runtime/loop_recorder.h"

#include <algorithm>

namespace baton {

namespace {

__attribute__((tls_model("initial-exec"))) thread_local LoopRecorder* recorder = nullptr;

}  // namespace

LoopRecorder::LoopRecorder(size_t capacity) : spans_(capacity), before_(recorder) { recorder = this; }

LoopRecorder::~LoopRecorder() { recorder = before_; }

LoopRecorder* LoopRecorder::current() { return recorder; }

void LoopRecorder::add(const LoopSpan& span) {
  const size_t at = count_.fetch_add(1, std::memory_order_relaxed);
  if (at < spans_.size()) spans_[at] = span;
}

std::vector<LoopSpan> LoopRecorder::spans() const {
  const size_t kept = std::min(count_.load(std::memory_order_acquire), spans_.size());
  return {spans_.begin(), spans_.begin() + static_cast<std::ptrdiff_t>(kept)};
}

size_t LoopRecorder::lost() const {
  const size_t count = count_.load(std::memory_order_acquire);
  return count > spans_.size() ? count - spans_.size() : 0;
}

}  // namespace baton
