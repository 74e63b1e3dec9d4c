#pragma once
// Products of integers in fewer bits, before layouts are chosen.
#include "baton/ir/expr.h"
#include "baton/support/base/ndarray.h"
#include "baton/target/device_sheet.h"

namespace baton {

/// How the processor sums products of uint8 and int8.
enum class ByteProducts {
  kNone,   ///< it has no such instruction, or the weights may make it saturate
  kPairs,  ///< in pairs of int16, which saturate (pmaddubsw): for weights with which they cannot
  kFours,  ///< in fours of int32 (VNNI)
};

/// The way for a convolution or dense layer of `data` and a constant weight of int8, whose axis 1 is that of
/// the input channels or the depth. kNone unless the data are uint8.
ByteProducts byte_products(DType data, const NDArray& weight, const DeviceSheet& sheet);

/// Convolutions and dense layers of bytes that were widened to int16, less their zero point (as qnn.Legalize
/// does for processors without VNNI), where they can be computed from uint8 and int8: the constant weight
/// fits, and byte_products() has a way. The same results, with z the zero point and z * sum(w) constants:
///   nn.conv2d(subtract(cast(x, "int16"), z), w16)  ->  subtract(nn.conv2d(pad(x, z), w8), z * sum(w8))
/// Data of int8 are moved up by 128.
Function narrow_products(const Function& function, const DeviceSheet& sheet);

}  // namespace baton
