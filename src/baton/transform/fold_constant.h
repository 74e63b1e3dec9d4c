#pragma once
#include "baton/pass/pass.h"

namespace baton {

/// `expr` (typed) with everything computable at compile time replaced by constants, which get the origins of
/// all operators folded into them.
Expr fold_constants(const Expr& expr, const BuildContext& context, bool fold_qnn = false);

/// The pass; with `fold_qnn` quantised operators are folded too.
Pass fold_constant_with(bool fold_qnn);

}  // namespace baton
