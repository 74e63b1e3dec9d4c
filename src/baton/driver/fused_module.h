#pragma once
// The module as it was lowered: what kernels were made of, under the names they have in graph.json.
#include "baton/driver/plan/plan.h"
#include "baton/ir/module.h"

namespace baton {

/// `main` calls every kernel by its func_name, a global function with Primitive=1; equal kernels are one
/// function, which stands for the operators of all its calls. `optimized` and `plan`: as make_plan() took and
/// made them.
IRModule fused_module(const IRModule& optimized, const GraphPlan& plan);

}  // namespace baton
