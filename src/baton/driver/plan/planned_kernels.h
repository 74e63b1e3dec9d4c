#pragma once
// The kernels of a plan, and what its nodes say of theirs.
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "baton/driver/plan/kernel_names.h"
#include "baton/driver/plan/value_devices.h"
#include "baton/runtime/plan.h"

namespace baton {

/// A kernel of the plan, shared by all calls of equal functions.
struct PlannedKernel {
  std::string func_name;  ///< "tvmgen_default_fused_nn_relu"
  Function function;      ///< that of the first call
  bool called = true;     ///< false: all its nodes are "__nop" (a reshape in place) or "__copy"
  KernelPlace place;      ///< its backend and device
};

/// Adds kernels to a list, each once.
class PlannedKernels {
 public:
  PlannedKernels(std::vector<PlannedKernel>& kernels, std::string mod_name)
      : kernels_(kernels), mod_name_(std::move(mod_name)) {}

  /// The number of the kernel: equal functions on the same backend share one.
  int of(const Function& function, const KernelPlace& place);

 private:
  std::vector<PlannedKernel>& kernels_;
  const std::string mod_name_;
  std::unordered_map<uint64_t, std::vector<int>> by_hash_;
  UniqueNames names_;
};

/// Gives a node the attributes of the kernel that it calls: hash and layouts, as set by LabelOps; a function
/// without a hash gets one. Why its region was refused is the node's fallback.
void set_kernel_attrs(PlanNode& node, const Function& function);

/// The operators that the node computes, or its causes and its reason.
void set_origins(PlanNode& node, const OriginTable& table, const OriginSet& origins);

}  // namespace baton
