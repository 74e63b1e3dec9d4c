#pragma once
#include "baton/pass/pass.h"

namespace baton {

/// AlterOpLayout as builds use it: the layouts that the context's choice gives for its first device.
Pass fast_layouts();

}  // namespace baton
