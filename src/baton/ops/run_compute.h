#pragma once
// Calls an operator's compute. For .cc files that may include Halide.h.
#include "baton/ops/compute.h"

namespace baton {

/// Whether a tensor of this shape has no elements.
bool is_empty(const std::vector<int64_t>& shape);
/// The same, at any extents.
bool is_empty(const std::vector<Dim>& dims);

/// Defines the stages and results of a call in `compute`. Throws NotSupported when the compute has no meaning
/// for the operands' element types or ranks, or reads an operand without elements: Relay's types accept more
/// than kernels do (bitwise_not of floats). Throws
/// NeedsNumbers, with the operator's name, when it needs a number for a symbolic extent.
void run_compute(const OpDef& op, Compute& compute, const Attrs& attrs);

}  // namespace baton
