#pragma once
// Names of operators that passes are specific to (CombineParallelConv2D, DenseToSparse, QuantizeAnnotate), or
// that rewrites build. Other facts about an operator belong in its block.

namespace baton::op_names {

inline constexpr char kConv2D[] = "nn.conv2d";
inline constexpr char kDense[] = "nn.dense";
inline constexpr char kBatchMatmul[] = "nn.batch_matmul";
inline constexpr char kDeviceCopy[] = "device_copy";
inline constexpr char kLayoutTransform[] = "layout_transform";
inline constexpr char kSimulatedQuantize[] = "relay.op.annotation.simulated_quantize";

}  // namespace baton::op_names
