#pragma once
// EliminateCommonSubexpr with exceptions.
#include <functional>

#include "baton/pass/pass.h"

namespace baton {

/// The pass; calls and tuple items for which `skip` is true stay, and nothing becomes one with them. Null:
/// none.
Pass eliminate_common_subexpr_but(std::function<bool(const Expr&)> skip);

}  // namespace baton
