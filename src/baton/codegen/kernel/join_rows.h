#pragma once
// The rows of a product, and height and width of a convolution with a window of one pixel, as one axis.
#include "baton/ir/expr.h"

namespace baton {

/// `function`, with tensors (n, C, H, W, c) as (n, C, 1, H * W, c), or (n, C, H, W) as (n, C, 1, H * W),
/// where the kernel's convolution does not look at neighbours, and (a, b, features) as (1, a * b, features)
/// around a matrix product (JoinableAxes): tiles of pixels then need not end with a row, and 14 x 14 pixels
/// make 33 tiles of 6 and not 42. The bytes of parameters and results, and the calls in order, stay the same;
/// the data of a convolution with strides keeps its shape. Returns
/// `function` itself where its operators do not allow it. `function` is typed, as lower() asks.
Function join_rows(const Function& function);

}  // namespace baton
