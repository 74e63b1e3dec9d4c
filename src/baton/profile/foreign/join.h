#pragma once
// Which nodes of an ONNX file a step of another engine computes. Engines name a step after one of the nodes,
// or after a tensor; what they fused into it follows from the graph.
#include <cstdint>
#include <vector>

#include "baton/frontend/onnx/source_nodes.h"
#include "baton/profile/foreign/engine_profile.h"

namespace baton {

struct JoinedRow {
  std::vector<uint32_t> nodes;     ///< that it computes, ascending; those of constants are not there
  std::vector<uint32_t> made_for;  ///< a change of layout or precision: the nodes that it is needed for
};

/// One per row of the profile. Each node is of one row at most.
std::vector<JoinedRow> join(const EngineProfile& profile, const std::vector<onnx::SourceNode>& nodes);

}  // namespace baton
