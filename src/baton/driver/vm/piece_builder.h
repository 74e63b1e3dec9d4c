#pragma once
// Collects calls of kernels, and makes pieces of them.
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "baton/driver/plan/planned_kernels.h"
#include "baton/driver/vm/lowered_program.h"
#include "baton/driver/vm/lowered_value.h"

namespace baton::vm {

/// A call of a primitive function that is not made yet.
struct PendingCall {
  Function function;
  OriginSet origins;
  std::vector<LoweredRef> args;  ///< one per parameter
  LoweredRef result;             ///< its tensors are pending
  int around = 1;                ///< the device type of what is around it, of which its place follows
};

/// What all functions of a program share while it is lowered.
struct LoweringState {
  const IRModule& module;
  const LoweringOptions& options;
  LoweredProgram& out;
  PlannedKernels kernels;
  std::shared_ptr<Plan> graph = std::make_shared<Plan>();
  std::unordered_map<const void*, int32_t> constants = {};  // by their data
  std::vector<EntryId> constant_entries = {};
  std::unordered_map<std::string, uint32_t> kernel_numbers = {};
  UniqueNames node_names = {};

  int32_t constant(const NDArray& value, const OriginSet& origins);
  /// As PlanDevices says, or 1.
  int device_of(const ExprNode* value) const {
    const int* device = options.devices.find(value);
    return device && *device > 0 ? *device : 1;
  }
  KernelPlace place(const FunctionNode& kernel, int around) const {
    return options.place ? options.place(kernel, around) : KernelPlace{"", around};
  }
  /// The operators of a function, or where it has none of the program: the causes of a copy that no operator
  /// near it says.
  OriginSet operators_of(const FunctionNode& function) const;
  /// What the node that computes an entry of the plan stands for.
  const OriginSet& origins_at(EntryId entry) const { return out.plan.nodes[graph->maker_of(entry)].origins; }
  void set_origins_at(EntryId entry, const OriginSet& origins);
  /// The number that the program has for a device type.
  uint32_t device_number(int type) const;
  /// Gives a value that no node computes an entry of the plan: a node without a call, and without bytes.
  void add_argument(LoweredValue& value);
  /// Adds a node to the plan that reports read. `kernel`: its number, or -1. Its edges are those of `args`;
  /// `result` gets its entries.
  uint32_t add_node(const Function& function, const OriginSet& origins, int kernel,
                    const std::string& func_name, const std::vector<LoweredRef>& args,
                    const LoweredRef& result);
};

/// The operators of a primitive function that integers in registers are computed by, in order; empty when it
/// has others.
struct IntegerStep {
  Opcode op;
  IntegerKind kind;
  std::vector<int> operands;  ///< below the number of parameters: a parameter; else an earlier step;
                              ///< negative: ~i, the number `numbers[i]`
};
struct IntegerFunction {
  std::vector<IntegerStep> steps;
  std::vector<std::pair<int64_t, IntegerKind>> numbers;
};
std::optional<IntegerFunction> integer_function(const FunctionNode& function);

/// A primitive function that concatenates others to a parameter along the first axis, whose extent is not
/// known: what a loop has collected.
struct AppendFunction {
  size_t whole = 0;    ///< the number of that parameter
  size_t part = 0;     ///< of the one that is concatenated, or becomes a row of `whole`; unless:
  Function rest = {};  ///< what computes it, of the other parameters
  OriginSet origins;   ///< of the concatenation itself
};
std::optional<AppendFunction> append_function(const FunctionNode& function);

/// Why a primitive function is no kernel that a device can have; empty when it is one.
std::string refused_on_devices(const FunctionNode& function);

class PieceBuilder {
 public:
  PieceBuilder(LoweringState& state, CodeBuilder& code) : state_(state), code_(code) {}

  bool empty() const { return calls_.empty(); }
  void add(PendingCall call) { calls_.push_back(std::move(call)); }
  /// The call that computes a pending tensor; null when none of these does.
  PendingCall* maker_of(const LoweredValue& tensor);
  /// Forgets the calls: control never comes to where their results are read.
  void drop() { calls_.clear(); }
  /// Emits a constant as a tensor on its device.
  Register constant_on_device(const LoweredValue& constant);
  /// Emits what computes all calls. Afterwards no value is pending: of results in `needed`, the registers are
  /// known.
  void flush(const std::vector<LoweredRef>& needed);

 private:
  class Typing;
  Function typed_or_assumed(size_t call, size_t* first, std::unique_ptr<Typing>& typing,
                            const std::vector<LoweredRef>& wanted);
  static int device_of(const PendingCall& call);
  bool is_kernel(const PendingCall& call, const Function& typed) const;
  std::vector<LoweredRef> read_from(size_t call, std::vector<LoweredRef> also) const;
  std::vector<Function> specialized_calls(size_t first, size_t last, Typing& typing) const;
  void emit_calls(size_t first, size_t last, Typing& typing, const std::vector<LoweredRef>& needed);
  void emit_piece(size_t first, size_t last, Typing& typing, const std::vector<LoweredRef>& needed,
                  std::optional<int32_t> otherwise = {});
  void emit_operator(const PendingCall& call);
  Register as_register(const LoweredRef& value);

  LoweringState& state_;
  CodeBuilder& code_;
  std::vector<PendingCall> calls_;
  std::vector<Function> given_;  ///< of each call: its function before it was typed
};

}  // namespace baton::vm
