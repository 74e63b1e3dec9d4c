#pragma once
// Files that quantise and dequantise around operators in float32 (QDQ): their operators in integers.
#include <string>
#include <vector>

#include "baton/ir/module.h"
#include "baton/pass/build_context.h"

namespace baton::onnx {

/// `module` after FakeQuantizationToInteger, where it has qnn.dequantize; typed.
IRModule with_integer_regions(const IRModule& module, const BuildContext& context);
/// The nodes that compute in float32 on dequantised tensors.
std::vector<std::string> nodes_left_in_float(const IRModule& module);

}  // namespace baton::onnx
