#pragma once
#include "baton/byoc/pattern_table.h"

namespace baton {

/// The composites that oneDNN computes in one primitive, the largest first.
PatternTable dnnl_patterns();

}  // namespace baton
