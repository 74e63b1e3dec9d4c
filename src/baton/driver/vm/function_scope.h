#pragma once
// The variables of a function while it is lowered, and how their values come into registers.
#include <limits>
#include <map>
#include <unordered_map>
#include <vector>

#include "baton/driver/vm/instruction_functions.h"
#include "baton/driver/vm/piece_builder.h"

namespace baton::vm {

/// A value that is on another device, too.
struct DeviceValue {
  LoweredRef value, copy;
};

class FunctionScope {
 public:
  /// What is known at a point of the code.
  struct Values {
    std::unordered_map<const VarNode*, LoweredRef> variables;
    std::map<std::pair<int64_t, IntegerKind>, Register> integers;  ///< numbers that are in registers
    std::vector<DeviceValue> copies;                               ///< of values on other devices
  };

  /// The registers of parameters and captured variables come first. `called_from_outside`: only that, so its
  /// arguments are in the memory of the host.
  FunctionScope(LoweringState& state, const FunctionNode& function, const std::vector<Var>& captured,
                bool called_from_outside);

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

  /// The tensors of a value on a device, copied there at most once. `reader`: what needs it; or with `asked`
  /// the call that is the copy.
  LoweredRef on(const LoweredRef& value, int device, const OriginSet& reader, bool asked = false);
  /// The same of what stays on devices, for a place of that type: see device_for().
  LoweredRef placed(const LoweredRef& value, const Type& type, int device, const OriginSet& reader,
                    bool asked = false);
  /// What a function within this one captures of a variable.
  LoweredRef captured(const Var& var);

  /// The register of a number.
  Register integer(int64_t number, IntegerKind kind);
  /// Emits: a new register, `words`, `list`.
  Register emit_made(Opcode op, std::vector<int32_t> words, const std::vector<Register>& list);
  /// The result of an integer function.
  Register emit_integers(const IntegerFunction& function, const std::vector<LoweredRef>& args, uint32_t node);
  /// The result of a kernel, of which `around` is the device of what is around it.
  LoweredRef call_kernel(const Function& kernel, std::vector<LoweredRef> args, const OriginSet& origins,
                         const Type& type, int around);
  /// Without `made`: as the last thing of the function.
  void emit_call(const Span& place, const LoweredRef& callee, std::vector<LoweredRef> args,
                 std::optional<Register> made);
  void return_value(const LoweredRef& value);

 private:
  /// The result of a kernel that appends to a parameter, which is what a loop has collected; null for
  /// others.
  LoweredRef appended(const Function& kernel, const std::vector<LoweredRef>& args, const Type& type);
  /// Where a kernel runs, and why no device computes it that should.
  struct DeviceOrNot {
    int device = 1;
    std::string fallback = {};
  };
  DeviceOrNot device_of_kernel(const Function& kernel, int around) const;
  LoweredRef copied(const DeviceCopy& copy, const Function& kernel, const OriginSet& origins,
                    const LoweredRef& value, const Type& type);
  void count_uses(const FunctionNode& function);
  void flush_for(const std::vector<LoweredRef>& values);
  Register constant_register(const LoweredValue& constant);
  void emit_integer(Register made, int64_t number, IntegerKind kind, std::optional<uint32_t> node);
  void keep_copies(std::vector<LoweredRef>& read);
  void add_reader(const DeviceValue& copied, const OriginSet& reader, bool asked);

  static constexpr size_t kAlways = std::numeric_limits<size_t>::max();

  LoweringState& state_;
  const FunctionNode& function_;
  std::optional<OriginSet> operators_;  // of the function, once they are asked for
  CodeBuilder code_;
  PieceBuilder pieces_;
  Register parameters_;
  Values values_;
  std::unordered_map<const VarNode*, size_t> uses_;  // still to come
};

}  // namespace baton::vm
