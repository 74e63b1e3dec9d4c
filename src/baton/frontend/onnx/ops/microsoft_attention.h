#pragma once
// Self-attention of com.microsoft, whose queries, keys and values are one product.
#include "baton/frontend/onnx/conversion.h"

namespace baton::onnx {

/// Where the other inputs are.
struct ProjectionInputs {
  size_t mask, past, bias;
};

/// `all`: (batch, length, queries + keys + values)
Values attention_of_projection(Conversion& c, const Expr& all, const ProjectionInputs& at);

}  // namespace baton::onnx
