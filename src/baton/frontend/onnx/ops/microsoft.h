#pragma once
// Operators of com.microsoft that are those of ai.onnx with something more.
#include "baton/frontend/onnx/operators.h"
#include "baton/frontend/onnx/ops/formulas.h"

namespace baton::onnx {

/// What the operator of ai.onnx makes of the node's attributes and other inputs.
inline Values as_standard(const Conversion& c, std::string_view name, int64_t version, Values inputs) {
  Conversion standard = c.with(version, std::move(inputs));
  return find_operator("", name)->convert(standard);
}

/// x * (1 + erf(x / sqrt(2))) / 2
Expr gelu_by_erf(const Formulas& f, const Expr& x);

}  // namespace baton::onnx
