#include "baton/runtime/vm/measured_run.h"

#include <algorithm>
#include <atomic>

namespace baton::vm {

double MeasuredTicks::ns() const {
  const double spent = static_cast<double>(readings) * ticks_per_reading();
  return std::max(0.0, static_cast<double>(ticks) - spent) * ns_per_tick();
}

namespace {

std::atomic<uint64_t> last_id{0};

}  // namespace

MeasuredRun::MeasuredRun() : id_(++last_id) {}

void MeasuredRun::exclude(uint64_t ticks) {
  for (Open& each : open_) each.began += ticks;
  excluded_ += ticks;
}

void MeasuredRun::begin(const Program& program) {
  open_.clear();
  is_open_.assign(program.functions.size(), false);
  readings_ = excluded_ = 0;
  if (program_ == &program) return;
  program_ = &program;
  functions_.assign(program.functions.size(), {});
  instructions_.clear();
  for (const FunctionCode& function : program.functions) instructions_.emplace_back(function.code.size());
}

size_t MeasuredRun::row(uint32_t node, const std::string& name, std::string shapes,
                        std::vector<int64_t> extents) {
  const auto [found, is_new] = numbers_.try_emplace({node, shapes}, rows_.size());
  if (is_new) {
    rows_.push_back({node, name, std::move(shapes), std::move(extents), 0, 0});
    counted_.emplace_back();
  }
  return found->second;
}

void MeasuredRun::add_piece(uint64_t extents, uint64_t memory, uint64_t all, const MeasuredTicks& before,
                            MeasuredInstruction& at) {
  const uint64_t calls = of_calls_.readings - before.readings;
  const uint64_t of_calls = of_calls_.ticks - before.ticks;
  // The counter is read at the begin, after the extents, before and after the memory, around each call, and
  // at the end. Each part has one reading more than lie within it.
  extents_.add(extents, 1);
  memory_.add(memory, 1);
  arguments_.add(all - extents - memory - of_calls, 2 + calls);
  of_pieces_.add(all, 4 + 2 * calls);
  at.time.add(all, 4 + 2 * calls);
  readings_ += 5;
  ++pieces_;
}

void MeasuredRun::add_total(uint64_t ticks) {
  total_.add(ticks - excluded_, readings_ + 1);
  ++runs_;
}

void MeasuredRun::enter(const FunctionCode& callee, MeasuredInstruction* site, size_t depth) {
  const size_t number = number_of(callee);
  ++functions_[number].calls;
  if (is_open_[number]) {
    ++functions_[number].recursive;
    return;
  }
  is_open_[number] = true;
  ++readings_;
  open_.push_back({depth, number, site, ticks(), readings_});
}

void MeasuredRun::close(size_t depth) {
  const uint64_t now = ticks();
  ++readings_;
  for (; !open_.empty() && open_.back().depth >= depth; open_.pop_back()) {
    const Open& each = open_.back();
    functions_[each.function].time.add(now - each.began, readings_ - each.readings);
    if (each.site) each.site->time.add(now - each.began, readings_ - each.readings);
    is_open_[each.function] = false;
  }
}

std::vector<MeasuredCalls> MeasuredRun::calls() const {
  std::vector<MeasuredCalls> calls = rows_;
  for (size_t i = 0; i < calls.size(); ++i) {
    calls[i].count = counted_[i].readings;
    calls[i].ns = counted_[i].ns();
  }
  return calls;
}

uint64_t MeasuredRun::num_instructions() const {
  uint64_t sum = 0;
  for (const std::vector<MeasuredInstruction>& function : instructions_)
    for (const MeasuredInstruction& each : function) sum += each.count;
  return sum;
}

double MeasuredRun::ns_of(RunPart part) const {
  switch (part) {
    case RunPart::kExtents:
      return extents_.ns();
    case RunPart::kMemory:
      return memory_.ns();
    case RunPart::kArguments:
      return arguments_.ns();
    case RunPart::kControl:
      return MeasuredTicks{total_.ticks - of_pieces_.ticks - of_operators_.ticks,
                           total_.readings - of_pieces_.readings - of_operators_.readings}
          .ns();
  }
  return 0;
}

double MeasuredRun::total_ns() const { return total_.ns(); }

}  // namespace baton::vm
