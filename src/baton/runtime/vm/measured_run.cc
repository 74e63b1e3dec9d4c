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

void MeasuredRun::add_piece(const PieceTicks& took, MeasuredInstruction& at) {
  const MeasuredTicks calls = of_calls_.since(took.calls);
  const MeasuredTicks first = took.placed.since(took.copies), later = of_copies_.since(took.placed);
  // The counter is read at the begin, after the extents, before and after the memory, around each call and
  // each copy, and at the end. Each part has one reading more than lie within it.
  extents_.add(took.extents - first.ticks, 1 + first.readings);
  memory_.add(took.memory, 1);
  arguments_.add(took.all - took.extents - took.memory - calls.ticks - later.ticks,
                 2 + calls.readings + later.readings);
  const uint64_t within = 4 + 2 * (calls.readings + first.readings + later.readings);
  of_pieces_.add(took.all, within);
  at.time.add(took.all, within);
  of_copies_in_pieces_.add(first.ticks + later.ticks, first.readings + later.readings);
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

std::vector<MeasuredCopies> MeasuredRun::copies() const {
  std::vector<MeasuredCopies> all;
  for (const auto& [cause, ticks] : copies_) all.push_back({cause, ticks.readings, ticks.ns()});
  return all;
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
      return total_.since(of_pieces_).since(of_operators_).since(of_copies_.since(of_copies_in_pieces_)).ns();
  }
  return 0;
}

double MeasuredRun::total_ns() const { return total_.ns(); }

}  // namespace baton::vm
