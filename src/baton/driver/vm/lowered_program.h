#pragma once
// A program of the virtual machine, with what the compiler knows of it.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "baton/driver/plan/plan.h"
#include "baton/driver/vm/specialize.h"
#include "baton/ir/module.h"
#include "baton/runtime/vm/program.h"

namespace baton::vm {

struct LoweredProgram {
  std::shared_ptr<Program> program;
  /// One node for each kernel's call, operator and integer instruction (PieceCall::node,
  /// FunctionCode::nodes), as reports read plans; its entries are empty.
  GraphPlan plan;
  std::vector<Function> operators;  ///< what Services evaluates, as Program::operators
};

struct LoweringOptions {
  std::string mod_name = "default";
  PlaceKernel place = {};
  /// Why a primitive function, whose types have symbolic extents, is no kernel; empty when it is one. Null:
  /// none is.
  std::function<std::string(const Function&)> refuses_symbolic = {};
  /// The device types of values; 1 for those that it lacks.
  PointerMap<int> devices = {};
  /// Told of each kernel that the processor computes in place of a device, and why; may throw. The reason is
  /// also kept with its calls, as PlanNode::fallback.
  std::function<void(const Function& kernel, const std::string& why)> fell_back = {};
  std::vector<NamedExtent> specializations = {};  ///< pieces have static kernels for each
  std::vector<NamedExtent> bounds = {};           ///< what variables of extents are at most
};

}  // namespace baton::vm
