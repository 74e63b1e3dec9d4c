#pragma once
#include "baton/pass/pass.h"

namespace baton {

/// `expr` (typed) with everything that can be computed at compile time replaced by its value. Constants stand
/// for all operators computed into them.
Expr fold_constants(const Expr& expr, const BuildContext& context, bool fold_qnn = false);

/// The pass; with `fold_qnn` quantised operators are computed too.
Pass fold_constant_with(bool fold_qnn);

}  // namespace baton
