#pragma once
#include "baton/pass/pass.h"

namespace baton {

/// qnn.Legalize and qnn.CanonicalizeOps, under the name that the default pipelines have for both:
/// "qnn.Legalize".
Pass qnn_lowering();

}  // namespace baton
