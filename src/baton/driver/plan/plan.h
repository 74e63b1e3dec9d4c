#pragma once
// From a fused module to a plan: which kernel runs when, on which data, in which storage.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "baton/driver/plan/value_devices.h"
#include "baton/ir/module.h"
#include "baton/runtime/plan.h"
#include "baton/support/base/params_blob.h"

namespace baton {

/// A kernel of the plan: every call of an equal function shares it.
struct PlannedKernel {
  std::string func_name;  ///< "tvmgen_default_fused_nn_relu"
  Function function;      ///< the first one met
  bool called = true;     ///< false: all its nodes are "__nop" (a reshape in place) or "__copy"
  KernelPlace place;      ///< who compiles it, and for which device
};

/// What the compiler knows of a node of the plan.
struct PlannedNode {
  int kernel = -1;    ///< index into GraphPlan::kernels
  Function function;  ///< the fused function this node calls, with its own origins; null for inputs
  OriginSet origins = OriginSet::none();
};

struct GraphPlan {
  std::shared_ptr<const Plan> graph;   ///< what the executor runs; as text: driver/plan/graph_json.h
  NamedArrays params;                  ///< constants, "p0", "p1", ... in the order met
  std::vector<PlannedKernel> kernels;  ///< in the order met
  std::vector<PlannedNode> nodes;      ///< one for each of graph->nodes, in their order

  const std::string& name_of(size_t node) const { return graph->nodes[node].name; }
};

/// `module`: fused and typed; the body of `main` calls primitive functions only. A value that is read on
/// another device than it is on is copied there once, by a node "__copy" that is made for its maker and its
/// readers. Throws NotSupported for what a graph cannot say: control flow, symbolic extents, calls of other
/// functions. Without `place`, all backends are the processor's.
GraphPlan make_plan(const IRModule& module, const std::string& mod_name = "default", PlaceKernel place = {});

}  // namespace baton
