#pragma once
// How an operator turns into others that kernels exist for. Attached through OpDef::rules, read by Legalize.
#include <functional>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// What rules want to know of the processor that the program is for. The default is any processor.
struct LegalizeTarget {
  bool fast_int8 = false;  ///< multiplies uint8 by int8 and adds up, in vectors: x86 with SSE 4.2 and better
  bool vnni = false;       ///< the same with sums of 32 bits in one instruction: AVX-512 VNNI
};

struct LegalizeRule {
  /// What takes the call's place, or null when it is fine as it is. `call` has rewritten arguments; types are
  /// those of the program.
  using Rewrite = std::function<Expr(const CallNode& call, const std::vector<Type>& arg_types,
                                     const Type& type, const LegalizeTarget& target)>;
  Rewrite legalize;          ///< for Legalize
  Rewrite qnn_legalize;      ///< for qnn.Legalize: types that the target has no instruction for
  Rewrite qnn_canonicalize;  ///< for qnn.CanonicalizeOps: quantised operators become integer operators
};

}  // namespace baton
