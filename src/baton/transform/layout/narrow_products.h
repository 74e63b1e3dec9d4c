#pragma once
// Products of integers in fewer bits, before layouts are chosen.
#include "baton/ir/expr.h"
#include "baton/target/device_sheet.h"

namespace baton {

/// How the processor sums products of uint8 and int8.
enum class ByteProducts {
  kNone,   ///< it has no such instruction, or the weights may make it saturate
  kPairs,  ///< in pairs of int16, which saturate (pmaddubsw): for weights with which they cannot
  kFours,  ///< in fours of int32 (VNNI)
};

/// The way for a convolution or dense layer with these operands. `data` is uint8; `weight` is a constant of
/// int8, whose axis 1 is that of the input channels or the depth; otherwise kNone.
ByteProducts byte_products(const Expr& data, const Expr& weight, const DeviceSheet& sheet);

/// Convolutions and dense layers of uint8 data that were widened to int16 (as qnn.Legalize does for
/// processors without VNNI), where they can be computed from uint8 and int8: the constant weight fits, and
/// byte_products() has a way. The same results.
///   nn.conv2d(cast(x, "int16"), w16)  ->  nn.conv2d(x, w8)
Function narrow_products(const Function& function, const DeviceSheet& sheet);

}  // namespace baton
