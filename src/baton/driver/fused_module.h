#pragma once
// The lowered module: the kernels' functions under their names in graph.json.
#include "baton/driver/plan/plan.h"
#include "baton/ir/module.h"

namespace baton {

/// `main` calls every kernel by its func_name, a global function with Primitive=1; equal kernels share one
/// function, with the merged origins of all its calls. `optimized` and `plan`: the input and result of
/// make_plan().
IRModule fused_module(const IRModule& optimized, const GraphPlan& plan);

}  // namespace baton
