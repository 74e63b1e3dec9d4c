#pragma once
#include "baton/byoc/pattern_table.h"

namespace baton {

/// x / 2 (1 + erf(x / sqrt(2))), x as `value` says, in the orders in which exporters write it: `dnnl.gelu`.
CompositePattern dnnl_gelu(const DFPattern& value);

}  // namespace baton
