#pragma once
// The map: which operators of the source a node of the plan computes, and which nodes an operator went into.
// Made from plan and report alone, which a build and an artifact both have, so that they say the same.
// Attribution is n:m.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/driver/origins/operator_record.h"
#include "baton/runtime/plan.h"

namespace baton {

class OperatorMap {
 public:
  OperatorMap() = default;
  /// Throws Error when the two do not belong together.
  OperatorMap(std::shared_ptr<const Plan> plan, OriginReport report);

  const std::vector<OperatorRecord>& operators() const { return report_.operators; }  ///< by id
  const Plan& plan() const { return *plan_; }

  /// Nodes that call the kernel of that `func_name`; when there is none, the node of that name.
  /// "tvmgen_default_" may be left out. Throws UsageError for an unknown name, with the nearest one, or those
  /// that hold it.
  std::vector<uint32_t> nodes_of_kernel(const std::string& name) const;
  /// A node of that name that calls a kernel of another name, while there is a kernel of that name too.
  std::optional<uint32_t> namesake(const std::string& kernel) const;
  /// The node of that number or name; the first one of several `reshape_nop`. Throws UsageError.
  uint32_t node(const std::string& id_or_name) const;
  /// Throws UsageError when there is no such node, or it is an input or a constant, which no kernel computes.
  const PlanNode& kernel_node(uint32_t node) const;
  /// Operators that `wanted` means (its name, "14" for all of a line, "14:7", its source name, or the
  /// operator's name). Throws UsageError when there is none, with the
  /// nearest name.
  std::vector<uint32_t> operators_called(const std::string& wanted) const;

  /// The operators that these nodes compute, ascending.
  std::vector<uint32_t> operators_of(const std::vector<uint32_t>& nodes) const;
  /// Names of the nodes that compute the operator, in the order of execution.
  std::vector<std::string> kernels_of(uint32_t id) const;
  /// Nodes whose results `node` reads, each once; and those that read its.
  const std::vector<uint32_t>& inputs_of(uint32_t node) const { return inputs_.at(node); }
  const std::vector<uint32_t>& readers_of(uint32_t node) const { return readers_.at(node); }
  /// Throws UsageError when there is no such operator.
  const OperatorRecord& at(uint32_t id) const;

 private:
  std::shared_ptr<const Plan> plan_;
  std::vector<std::vector<uint32_t>> inputs_, readers_;  // by node
  OriginReport report_;
};

}  // namespace baton
