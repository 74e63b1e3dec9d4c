#pragma once

namespace baton::golden {

/// The compiler that golden files of byoc/ are for: "demo" takes nn.conv2d, nn.relu, add and nn.dense,
/// "other" takes exp and nn.relu; the pattern table "demo" has demo.conv2d_bias_relu, the bias optional, and
/// demo.dense.
void register_demo_compiler();

}  // namespace baton::golden
