#pragma once
// Counting and finding in programs: what TVM's relay.analysis asks of networks.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "baton/ir/module.h"

namespace baton {

/// Multiplications (each with an addition) of all nn.conv2d, nn.conv2d_transpose, nn.dense and
/// nn.batch_matmul in `root`; for a transposed convolution per value of its output. Throws Error for one of
/// them without a static type.
int64_t multiply_accumulates(const Expr& root);

/// How many calls of each operator FakeQuantizationToInteger would look at, whether it can do them or not:
/// what lies between a qnn.quantize and the qnn.dequantize calls, or constants, that it begins with. Once in
/// a region each.
std::map<std::string, int64_t> fake_quantized_frequencies(const IRModuleNode& module);

/// The most calls of these operators on one way through `root`.
int64_t count_layers(const Expr& root, const std::set<std::string>& operators);

/// The names of variables w in nn.dense(x, transpose(w)), once each, in the order of the program.
std::vector<std::string> transposed_dense_weights(const Expr& root);

}  // namespace baton
