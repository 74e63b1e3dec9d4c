#pragma once
// Plans the execution of a fused module: kernel order, operands and storage.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "baton/driver/plan/planned_kernels.h"
#include "baton/ir/module.h"
#include "baton/runtime/plan.h"
#include "baton/support/base/params_blob.h"

namespace baton {

/// The compiler's facts about a plan node.
struct PlannedNode {
  int kernel = -1;    ///< index into GraphPlan::kernels
  Function function;  ///< the fused function called by this node, with its own origins; null for inputs
  OriginSet origins = OriginSet::none();
};

struct GraphPlan {
  std::shared_ptr<const Plan> graph;   ///< run by the executor; serialized by driver/plan/graph_json.h
  NamedArrays params;                  ///< constants, "p0", "p1", ... in the order met
  std::vector<PlannedKernel> kernels;  ///< in first-use order
  std::vector<PlannedNode> nodes;      ///< one per node of graph->nodes

  const std::string& name_of(size_t node) const { return graph->nodes[node].name; }
};

/// `module`: fused and typed; the body of `main` only calls primitive functions. A value used on another
/// device is copied there once, by a node "__copy" whose causes are its producer and its users. Throws
/// NotSupported for programs that a graph cannot represent: control flow, symbolic extents, calls of other
/// functions. Without `place`, all kernels run on the CPU.
GraphPlan make_plan(const IRModule& module, const std::string& mod_name = "default", PlaceKernel place = {});

}  // namespace baton
