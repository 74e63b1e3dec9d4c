#pragma once

namespace baton {

class CallNode;

/// Calls of a broadcasting operator with attributes whose result at a height and width follows from its
/// operands there, with the same attributes when both are one axis (OnePixelRule in pass_traits.h).
struct PositionFreeRule {
  bool (*applies)(const CallNode&);
};

}  // namespace baton
