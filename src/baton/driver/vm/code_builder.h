#pragma once
// Instructions over any number of registers, which become a function's code: registers are shared by values
// that do not live at the same time, and values are released after their last use.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/runtime/vm/instructions.h"
#include "baton/support/source.h"

namespace baton::vm {

/// A register before allocation; parameters and captured variables come first.
using Register = int32_t;

class CodeBuilder {
 public:
  CodeBuilder(const Program& program, uint32_t inputs)
      : program_(program), inputs_(inputs), registers_(static_cast<Register>(inputs)) {}

  Register fresh() { return registers_++; }
  /// A place that instructions jump to, which place() puts behind them.
  int32_t label() { return labels_++; }
  void place(int32_t label);
  /// Appends an instruction: operands in the order of the opcode, targets as labels. `node`: of the plan,
  /// that it computes.
  void emit(Opcode op, std::vector<int32_t> operands, std::optional<uint32_t> node = {});
  /// The same for an instruction that reports show by its place in the source.
  void emit_at(const Span& place, Opcode op, std::vector<int32_t> operands, std::string what = {});
  /// Operands that are a list: its length and its members.
  static void append(std::vector<int32_t>& operands, const std::vector<Register>& list);

  /// Writes `code`, `nodes`, `lines` and `registers`.
  void finish(FunctionCode& function);

 private:
  struct Placed {
    std::vector<int32_t> words = {};  ///< empty: a label
    int32_t label = -1;
    std::optional<uint32_t> node = {};
    CodeLine place = {};
    std::vector<Operand> operands = {};
    std::vector<Register> released_before = {}, released_after = {};
  };
  void find_last_uses();
  std::vector<int32_t> allocate() const;

  const Program& program_;
  uint32_t inputs_;
  Register registers_;
  int32_t labels_ = 0;
  std::vector<Placed> placed_;
};

}  // namespace baton::vm
