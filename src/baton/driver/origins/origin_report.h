#pragma once
// origins.json: what became of every operator of the source, as an artifact keeps it. Read back by
// operator_map.h.
#include <string>
#include <unordered_map>

#include "baton/driver/origins/source_graph.h"
#include "baton/driver/plan/plan.h"
#include "baton/transform/fuse/fuse_ops.h"

namespace baton {

/// Every operator of `origins`: what the source says of it, the plan's nodes that carry it, the nodes that
/// read a constant it was folded into, why it shares a kernel with what uses its result or not (`fusion`: of
/// the passes that led to `plan`), and why it is gone when it is. The fields:
/// docs/design/0009-explain-json.md.
std::string origins_json(const OriginTable& origins, const GraphPlan& plan,
                         const std::unordered_map<const Origin*, SourceOperator>& source,
                         const FusionLog& fusion);

}  // namespace baton
