// What a measured run of a program took: by calls of kernels and operators, by functions, by instructions.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "baton/runtime/system/timers.h"
#include "baton/runtime/vm/program.h"

namespace baton::vm {

/// Calls alike: of one node of the plan that reports read, on tensors of the same shapes.
struct MeasuredCalls {
  uint32_t node = 0;
  std::string name;              ///< of the kernel or operator
  std::string shapes;            ///< of arguments and results: "float32[2, 3], float32[3]"
  std::vector<int64_t> extents;  ///< the values of the kernel's symbolic extents (kernel_extents())
  uint64_t count = 0;
  double ns = 0;
};

/// What a run does beside calls of kernels and operators.
enum class RunPart : uint8_t {
  kExtents,    ///< computing and checking extents, placing intermediate results
  kMemory,     ///< memory of results
  kArguments,  ///< the rest of making kernels ready: pointers to their operands, values of their results
  kControl,    ///< the instructions between pieces
};
inline constexpr size_t kRunParts = 4;

/// Ticks of runtime/system/timers.h, and how many readings of the counter are among them.
struct MeasuredTicks {
  uint64_t ticks = 0, readings = 0;
  void add(uint64_t more, uint64_t with) {
    ticks += more;
    readings += with;
  }
  /// Without the readings.
  double ns() const;
  /// What has been added since.
  MeasuredTicks since(const MeasuredTicks& before) const {
    return {ticks - before.ticks, readings - before.readings};
  }
};

/// A function of the program. A call while another one of the same function is not finished is recursive:
/// iterations of loops are such calls.
struct MeasuredFunction {
  uint64_t calls = 0, recursive = 0;
  MeasuredTicks time;  ///< of the calls that are not recursive, with all that they call
};

/// An instruction: how often it ran, and of pieces, operators and calls (those that are not recursive) the
/// time.
struct MeasuredInstruction {
  uint64_t count = 0;
  MeasuredTicks time;
};

/// Copies between devices that are made while a program runs, where values come to be needed.
struct MeasuredCopies {
  uint32_t cause = 0;  ///< the node that needs them, or MeasuredRun::kOutside
  uint64_t count = 0;
  double ns = 0;  ///< of all of them
};

class MeasuredRun {
 public:
  /// The cause of copies for those outside of the program: its caller, and functions that it does not have.
  static constexpr uint32_t kOutside = UINT32_MAX;

  MeasuredRun();
  MeasuredRun(const MeasuredRun&) = delete;
  MeasuredRun& operator=(const MeasuredRun&) = delete;
  /// Differs from that of every other one, also of those that exist no more.
  uint64_t id() const { return id_; }
  /// Before anything is counted, once or before each of several runs that are added up. The program outlives
  /// this.
  void begin(const Program& program);

  /// The row for such calls, created on first use.
  size_t row(uint32_t node, const std::string& name, std::string shapes, std::vector<int64_t> extents = {});
  /// Counts a call between two readings.
  void add_call(size_t row, uint64_t ticks) {
    counted_[row].add(ticks, 1);
    of_calls_.add(ticks, 1);
    readings_ += 2;
  }
  /// The ticks of all calls so far.
  const MeasuredTicks& of_calls() const { return of_calls_; }
  /// So many ticks that have just passed do not count; modulo 2^64, as what a simulated device did may take
  /// longer by its own clock than it took here.
  void exclude(uint64_t ticks);
  uint64_t excluded() const { return excluded_; }
  /// Counts an operator's call.
  void add_operator(size_t row, uint64_t ticks, MeasuredInstruction& at) {
    add_call(row, ticks);
    of_operators_.add(ticks, 1);
    at.time.add(ticks, 1);
  }
  /// Counts a copy between two readings.
  void add_copy(uint32_t cause, uint64_t ticks) {
    copies_[cause].add(ticks, 1);
    of_copies_.add(ticks, 1);
    readings_ += 2;
  }
  const MeasuredTicks& of_copies() const { return of_copies_; }
  /// What a piece took.
  struct PieceTicks {
    uint64_t extents = 0, memory = 0, all = 0;
    MeasuredTicks calls;           ///< of_calls() at its begin
    MeasuredTicks copies, placed;  ///< of_copies() at its begin, and behind its extents
  };
  void add_piece(const PieceTicks& took, MeasuredInstruction& at);
  /// The end of a run, between two readings.
  void add_total(uint64_t ticks);

  /// The tallies of a function's words.
  MeasuredInstruction* instructions_of(const FunctionCode& function) {
    return instructions_[number_of(function)].data();
  }
  /// A call of `callee` from the instruction at `site` (null: from outside), in a frame of that depth.
  void enter(const FunctionCode& callee, MeasuredInstruction* site, size_t depth);
  /// The frame of that depth ends.
  void leave(size_t depth) {
    if (!open_.empty() && open_.back().depth >= depth) close(depth);
  }

  const Program& program() const { return *program_; }
  uint64_t runs() const { return runs_; }
  /// In the order of their first calls.
  std::vector<MeasuredCalls> calls() const;
  /// By cause, ascending.
  std::vector<MeasuredCopies> copies() const;
  /// How many pieces ran, and how many instructions.
  uint64_t pieces() const { return pieces_; }
  uint64_t num_instructions() const;
  double ns_of(RunPart part) const;
  double total_ns() const;
  const std::vector<MeasuredFunction>& functions() const { return functions_; }
  /// By function and word of its code.
  const std::vector<std::vector<MeasuredInstruction>>& instructions() const { return instructions_; }

 private:
  /// A call that is not recursive and not finished.
  struct Open {
    size_t depth, function;
    MeasuredInstruction* site;
    uint64_t began, readings;
  };
  size_t number_of(const FunctionCode& function) const {
    return static_cast<size_t>(&function - program_->functions.data());
  }
  void close(size_t depth);

  const uint64_t id_;
  const Program* program_ = nullptr;
  std::vector<MeasuredCalls> rows_;
  std::vector<MeasuredTicks> counted_;                          // of rows; their readings are their calls
  std::map<uint32_t, MeasuredTicks> copies_;                    // by cause; as counted_
  std::map<std::pair<uint32_t, std::string>, size_t> numbers_;  // of rows, by node and shapes
  std::vector<MeasuredFunction> functions_;
  std::vector<std::vector<MeasuredInstruction>> instructions_;
  std::vector<bool> is_open_;  // of each function
  std::vector<Open> open_;
  MeasuredTicks of_copies_, of_copies_in_pieces_;
  MeasuredTicks of_calls_, of_operators_, of_pieces_, extents_, memory_, arguments_, total_;
  uint64_t pieces_ = 0, readings_ = 0, runs_ = 0, excluded_ = 0;
};

}  // namespace baton::vm
