#pragma once
// The operators `onnx.node`, which keeps a node of a file until it runs, and `onnx.error`, which stands for a
// branch that cannot be computed; kept_node.h makes calls of them.

namespace baton::onnx {

/// Registers them; repeated calls have no effect. Called by driver/initialize.
void register_node_operators();

}  // namespace baton::onnx
