#pragma once
#include "baton/ir/expr.h"

namespace baton {

/// The pass ScalarConstants for one typed function; builds have it with AlterOpLayout, from level 3 on.
Function with_scalar_constants(const Function& function);

}  // namespace baton
