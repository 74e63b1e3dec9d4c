#pragma once
// The operator `onnx.node`, which keeps a node of a file until it runs; kept_node.h makes calls of it.

namespace baton::onnx {

/// Registers it; repeated calls have no effect. Called by driver/initialize.
void register_node_operator();

}  // namespace baton::onnx
