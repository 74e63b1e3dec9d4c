#pragma once

namespace baton {

class CallNode;

/// Calls of a broadcasting operator with attributes whose result at a height and width follows from its
/// operands there, with the same attributes when both are one axis (JoinableAxes in pass_traits.h).
struct PositionFreeRule {
  bool (*applies)(const CallNode&);
};

/// Whether a call's result at a position follows from its operands at this position alone (aligned at the
/// last axis and broadcast), and no attribute names an axis or a shape.
bool is_position_free(const CallNode& call);

}  // namespace baton
