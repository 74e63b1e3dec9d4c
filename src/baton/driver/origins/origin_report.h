#pragma once
// What became of every operator of the source, asked of the plan.
#include <unordered_map>

#include "baton/driver/origins/operator_record.h"
#include "baton/driver/origins/source_graph.h"
#include "baton/driver/plan/plan.h"
#include "baton/transform/fuse/fuse_ops.h"

namespace baton {

/// Every operator of `origins`: what the source says of it, the plan's nodes that carry it, the nodes that
/// read a constant it was folded into, why it shares a kernel with what uses its result or not (`fusion`: of
/// the passes that led to `plan`), and why it is gone when it is.
OriginReport origin_report(const OriginTable& origins, const GraphPlan& plan,
                           const std::unordered_map<const Origin*, SourceOperator>& source,
                           const FusionLog& fusion);

/// `report` with the lines that its operators stand in (OperatorRecord::text). They are not kept in a build:
/// of a program in one line, they would be longer than the program by its number of operators.
OriginReport with_lines(OriginReport report, const OriginTable& origins);

}  // namespace baton
