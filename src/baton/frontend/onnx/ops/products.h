#pragma once
// Products that several families of operators compute.
#include "baton/frontend/onnx/conversion.h"

namespace baton::onnx {

/// A call of `op`, a sum of products, which for short floats is computed in float32.
Expr summed(const Conversion& c, std::string_view op, std::vector<Expr> args, NamedAttrs attrs);

/// As numpy.matmul: vectors are rows or columns, batches broadcast.
Expr matrix_product(Conversion& c, const Expr& a, const Expr& b);

}  // namespace baton::onnx
