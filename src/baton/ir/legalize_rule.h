#pragma once
// How an operator turns into others that kernels exist for. Attached through OpDef::rules, read by Legalize.
#include <functional>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

struct LegalizeRule {
  /// What takes the call's place, or null when it is fine as it is. `call` has rewritten arguments; types are those of
  /// the program.
  using Rewrite = std::function<Expr(const CallNode& call, const std::vector<Type>& arg_types, const Type& type)>;
  Rewrite legalize;          ///< for Legalize
  Rewrite qnn_legalize;      ///< for qnn.Legalize, first: types that the target has no instruction for
  Rewrite qnn_canonicalize;  ///< for qnn.Legalize, second: quantised operators become integer operators
};

}  // namespace baton
