#pragma once
// Products of matrices whose batches are symbolic extents.
#include <functional>

#include "baton/frontend/onnx/conversion.h"

namespace baton::onnx {

/// Whether an extent of the operands, both of one rank of 3 or more, is only known at run time.
bool has_symbolic_batches(const Expr& a, const Expr& b);

/// `multiply` of the operands, with all their batches in one axis, and the result's batches in their axes
/// again. Throws NotSupported where which of two unknown extents is 1 decides.
Expr over_symbolic_batches(const Conversion& c, const Expr& a, const Expr& b,
                           const std::function<Expr(const Expr& a, const Expr& b)>& multiply);

}  // namespace baton::onnx
