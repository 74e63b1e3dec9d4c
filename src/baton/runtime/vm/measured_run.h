// What a measured run of a program took, by calls of kernels and operators.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace baton::vm {

/// Calls alike: of one node of the plan that reports read, on tensors of the same shapes.
struct MeasuredCalls {
  uint32_t node = 0;
  std::string name;    ///< of the kernel or operator
  std::string shapes;  ///< of arguments and results: "float32[2, 3], float32[3]"
  uint64_t count = 0;
  double ns = 0;
};

/// The time of a run: that of its calls, that of making pieces ready, and the rest, which is control: the
/// instructions between them.
class MeasuredRun {
 public:
  /// The row for such calls, created on first use.
  size_t row(uint32_t node, const std::string& name, std::string shapes);
  /// Counts a call. Times are in ticks of runtime/system/timers.h.
  void add_call(size_t row, uint64_t ticks) {
    ++counted_[row].count;
    counted_[row].ticks += ticks;
    ticks_of_calls_ += ticks;
  }
  /// The ticks of all calls so far.
  uint64_t ticks_of_calls() const { return ticks_of_calls_; }
  /// Counts a piece, which took `ticks` beside its calls.
  void add_piece(uint64_t ticks) {
    ++pieces_;
    ticks_of_pieces_ += ticks;
  }
  void set_total(uint64_t ticks) { ticks_in_total_ = ticks; }

  /// In the order of their first calls.
  std::vector<MeasuredCalls> calls() const;
  /// How many pieces ran, and the time of their extents, memory, arguments and results.
  uint64_t pieces() const { return pieces_; }
  double pieces_ns() const;
  double total_ns() const;

 private:
  struct Counted {
    uint64_t count = 0, ticks = 0;
  };
  std::vector<MeasuredCalls> rows_;
  std::vector<Counted> counted_;
  std::map<std::pair<uint32_t, std::string>, size_t> numbers_;  // of rows, by node and shapes
  uint64_t ticks_of_calls_ = 0, pieces_ = 0, ticks_of_pieces_ = 0, ticks_in_total_ = 0;
};

}  // namespace baton::vm
