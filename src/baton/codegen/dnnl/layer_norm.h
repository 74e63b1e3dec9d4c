#pragma once
#include <optional>

#include "baton/byoc/pattern_table.h"

namespace baton {

/// (data - mean) / sqrt(variance + epsilon) * gamma + beta over the last axis, in single operators.
struct LayerNormParts {
  Expr data, gamma, beta;
  double epsilon = 0;
};

/// What `root` normalises; null when it is no such expression. `root`: typed.
std::optional<LayerNormParts> layer_norm_parts(const Expr& root);

/// Normalisations as exporters and SimplifyInference write them: `dnnl.layer_norm`.
CompositePattern dnnl_layer_norm();

}  // namespace baton
