#pragma once
#include <functional>

#include "baton/pass/pass.h"

namespace baton {

/// SimplifyInference, but for the calls that `kept` accepts: a library has primitives for whole
/// normalisations. Asked for typed calls of operators with one result; null: keeps none. What replaces a
/// result of several (batch_norm) is not asked for: its factors fold into the layer before.
Pass simplify_inference_but(std::function<bool(const CallNode&)> kept);

}  // namespace baton
