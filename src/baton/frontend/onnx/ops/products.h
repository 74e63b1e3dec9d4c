#pragma once
// Products that several families of operators compute.
#include "baton/frontend/onnx/conversion.h"

namespace baton::onnx {

/// As numpy.matmul: vectors are rows or columns, batches broadcast.
Expr matrix_product(Conversion& c, const Expr& a, const Expr& b);

}  // namespace baton::onnx
