#include "baton/runtime/vm/measured_run.h"

#include "baton/runtime/system/timers.h"

namespace baton::vm {

size_t MeasuredRun::row(uint32_t node, const std::string& name, std::string shapes) {
  const auto [found, is_new] = numbers_.try_emplace({node, shapes}, rows_.size());
  if (is_new) {
    rows_.push_back({node, name, std::move(shapes), 0, 0});
    counted_.emplace_back();
  }
  return found->second;
}

std::vector<MeasuredCalls> MeasuredRun::calls() const {
  std::vector<MeasuredCalls> calls = rows_;
  for (size_t i = 0; i < calls.size(); ++i) {
    calls[i].count = counted_[i].count;
    calls[i].ns = static_cast<double>(counted_[i].ticks) * ns_per_tick();
  }
  return calls;
}

double MeasuredRun::pieces_ns() const { return static_cast<double>(ticks_of_pieces_) * ns_per_tick(); }

double MeasuredRun::total_ns() const { return static_cast<double>(ticks_in_total_) * ns_per_tick(); }

}  // namespace baton::vm
