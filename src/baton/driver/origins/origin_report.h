#pragma once
// Builds the origin report: what each source operator was compiled to.
#include <unordered_map>

#include "baton/driver/origins/operator_record.h"
#include "baton/driver/origins/source_graph.h"
#include "baton/driver/plan/plan.h"
#include "baton/transform/fuse/fuse_ops.h"

namespace baton {

/// For each operator of `origins`: its facts in the source, the plan nodes that carry it, nodes that read a
/// constant it was folded into, why it is or is not fused with its users (`fusion`: the log of the passes
/// that led to `plan`), and why it was retired, if it was.
OriginReport origin_report(const OriginTable& origins, const GraphPlan& plan,
                           const std::unordered_map<const Origin*, SourceOperator>& source,
                           const FusionLog& fusion);

/// `report` with the source lines of its operators (OperatorRecord::text). Builds do not store them: for a
/// program on one line they would repeat the program once per operator.
OriginReport with_lines(OriginReport report, const OriginTable& origins);

}  // namespace baton
