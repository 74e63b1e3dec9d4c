#pragma once
// A quantised program as three functions beside a main that calls them: inputs to integers, integers, outputs
// back to numbers.
//   cast(conv2d(cast(clip(round(x * s)))), "float32") * t
//   ->  quantize_inputs(x) = (cast(clip(round(x * s))),);  quantized_main(q) = conv2d(q);
//   dequantize_outputs(c) = cast(c, "float32") * t
#include <string>
#include <vector>

#include "baton/ir/module.h"

namespace baton {

struct PartitionedConversions {
  IRModule module;
  /// What stands in the way of integers alone in the middle and conversions alone around it; empty: nothing.
  std::string not_integral;
};

/// Splits `module`, the result of quantize: a main without lets and branches. Values of the element types
/// `quantized` are integers of the quantised program.
PartitionedConversions partition_conversions(const IRModule& module, const std::vector<DType>& quantized);

}  // namespace baton
