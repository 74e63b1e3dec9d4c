#pragma once
// Operators that passes are about by their own definition (CombineParallelConv2D, DenseToSparse,
// QuantizeAnnotate's own), or that rewrites build. Whatever else a pass wants to know of an operator its
// block says.

namespace baton::op_names {

inline constexpr char kConv2D[] = "nn.conv2d";
inline constexpr char kDense[] = "nn.dense";
inline constexpr char kBatchMatmul[] = "nn.batch_matmul";
inline constexpr char kSimulatedQuantize[] = "relay.op.annotation.simulated_quantize";

}  // namespace baton::op_names
