#pragma once
// Program measures, as in TVM's relay.analysis.
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "baton/ir/module.h"

namespace baton {

/// Multiplications (each with an addition) of all nn.conv2d, nn.conv2d_transpose, nn.dense and
/// nn.batch_matmul in `root`; for a transposed convolution per value of its output. Throws Error when one of
/// them has no static type. Calls of an operator in `given` count by that function instead.
using MacCount = std::function<int64_t(const Call& call)>;
int64_t multiply_accumulates(const Expr& root, const std::map<std::string, MacCount>& given = {});

/// The calls of each operator that FakeQuantizationToInteger would consider, supported or not: those between
/// a qnn.quantize and the qnn.dequantize calls or constants it depends on. Each call counts once per region.
std::map<std::string, int64_t> fake_quantized_frequencies(const IRModuleNode& module);

/// The maximum number of calls of these operators on any path through `root`.
int64_t count_layers(const Expr& root, const std::set<std::string>& operators);

/// The names of variables w in nn.dense(x, transpose(w)), once each, in program order.
std::vector<std::string> transposed_dense_weights(const Expr& root);

}  // namespace baton
