#pragma once
// What all functions of a program share while it is lowered.
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "baton/driver/plan/planned_kernels.h"
#include "baton/driver/vm/lowered_program.h"
#include "baton/driver/vm/lowered_value.h"

namespace baton::vm {

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
  /// Gives the operators that were folded into a constant, which is only passed on, a place: a node that
  /// reads it, for the instruction that loads it. None where there are no such operators.
  std::optional<uint32_t> add_load(const LoweredValue& constant);
  /// Says of a node why it is not computed as asked, or by a kernel; empty: nothing.
  void add_fallback(uint32_t node, const std::string& why);
};

}  // namespace baton::vm
