#pragma once
#include "baton/byoc/pattern_table.h"

namespace baton {

/// x / 2 (1 + erf(x / sqrt(2))) as `dnnl.gelu`.
PatternTable dnnl_gelu_patterns();
/// All composites, the largest first.
PatternTable dnnl_patterns();

}  // namespace baton
