#pragma once
#include "baton/pass/pass.h"

namespace baton {

/// FoldScaleAxis as builds use it: a factor that is known at run time only, as of squeeze and excite, moves
/// into weights only where these have fewer elements than the data that it multiplies.
Pass fold_scale_axis_by_cost();

}  // namespace baton
