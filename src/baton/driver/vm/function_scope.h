#pragma once
// The variables of a function while it is lowered, and how their values come into registers.
#include <limits>
#include <map>
#include <unordered_map>
#include <vector>

#include "baton/driver/vm/piece_builder.h"

namespace baton::vm {

class FunctionScope {
 public:
  /// What is known at a point of the code.
  struct Values {
    std::unordered_map<const VarNode*, LoweredRef> variables;
    std::map<std::pair<int64_t, IntegerKind>, Register> integers;  ///< numbers that are in registers
  };

  /// The registers of parameters and captured variables come first.
  FunctionScope(LoweringState& state, const FunctionNode& function, const std::vector<Var>& captured);

  CodeBuilder& code() { return code_; }
  /// Calls of kernels that are not computed yet.
  PieceBuilder& pieces() { return pieces_; }

  void bind(const Var& var, LoweredRef value);
  /// The value of a variable at one of its uses. After the last one nobody keeps it.
  LoweredRef use(const VarNode* var);
  /// The same, not as a use; null when it has none.
  LoweredRef find(const VarNode* var) const;
  /// To come back to after a branch.
  const Values& values() const { return values_; }
  void restore(Values values) { values_ = std::move(values); }

  /// Computes what is pending, as far as it is read later: by variables, or in `also`.
  void flush(std::vector<LoweredRef> also = {});
  Register as_register(const LoweredRef& value);
  std::vector<Register> as_registers(const std::vector<LoweredRef>& values);
  /// A tuple in a register as its fields.
  LoweredRef expanded(const LoweredRef& value);
  LoweredRef field(const LoweredRef& value, int32_t index, const Type& type);

  /// The register of a number.
  Register integer(int64_t number, IntegerKind kind);
  /// Emits: a new register, `words`, `list`.
  Register emit_made(Opcode op, std::vector<int32_t> words, const std::vector<Register>& list);
  /// The result of an integer function.
  Register emit_integers(const IntegerFunction& function, const std::vector<LoweredRef>& args, uint32_t node);
  /// The result of a kernel that appends to a parameter, which is what a loop has collected; null for
  /// others.
  LoweredRef appended(const Function& kernel, const std::vector<LoweredRef>& args, const Type& type);
  void return_value(const LoweredRef& value);

 private:
  void count_uses(const FunctionNode& function);
  void flush_for(const std::vector<LoweredRef>& values);
  Register constant_register(int32_t number);

  static constexpr size_t kAlways = std::numeric_limits<size_t>::max();

  LoweringState& state_;
  CodeBuilder code_;
  PieceBuilder pieces_;
  Register parameters_;
  Values values_;
  std::unordered_map<const VarNode*, size_t> uses_;  // still to come
};

}  // namespace baton::vm
