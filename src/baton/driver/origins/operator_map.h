#pragma once
// The n:m mapping between source operators and nodes of the plan. Built only from plan and report, which both
// a build and an artifact have, so that both give the same answers.
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
  /// Throws Error when plan and report do not match.
  OperatorMap(std::shared_ptr<const Plan> plan, OriginReport report);

  const std::vector<OperatorRecord>& operators() const { return report_.operators; }  ///< by id
  const Plan& plan() const { return *plan_; }

  /// The nodes that call the kernel `func_name`; when there is none, the node of that name. The prefix
  /// "tvmgen_default_" is optional. Throws UsageError for an unknown name, suggesting the nearest ones.
  std::vector<uint32_t> nodes_of_kernel(const std::string& name) const;
  /// A node with that name that calls another kernel, when a kernel of that name exists too.
  std::optional<uint32_t> namesake(const std::string& kernel) const;
  /// The node with that number or name; the first of several `reshape_nop`. Throws UsageError.
  uint32_t node(const std::string& id_or_name) const;
  /// Throws UsageError when there is no such node, or it is an input or a constant.
  const PlanNode& kernel_node(uint32_t node) const;
  /// The operators matching `wanted`: a name, "14" for all of a line, "14:7", a source name, or an operator
  /// type. Throws UsageError, suggesting the nearest name, when there is none.
  std::vector<uint32_t> operators_called(const std::string& wanted) const;

  /// The operators that these nodes compute, ascending.
  std::vector<uint32_t> operators_of(const std::vector<uint32_t>& nodes) const;
  /// Names of the nodes that compute the operator, in execution order.
  std::vector<std::string> kernels_of(uint32_t id) const;
  /// The distinct nodes whose results `node` reads, and those that read its result.
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
