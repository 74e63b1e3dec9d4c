#pragma once
// How an operator turns into others that kernels exist for. Attached through OpDef::rules, read by Legalize.
#include <functional>
#include <string>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// How halves are rounded and what is computed with in qnn.requantize; "None" in an operator's attributes
/// means these.
struct RequantizeConfig {
  std::string rounding = "UPWARD";  ///< UPWARD (x.5 to x + 1) or TONEAREST (halves away from zero)
  /// int64: fixed point; float32, float64: in floating point. Unless given, float32 where the target has
  /// vectors that make it the faster one (SSE 4.1), else int64.
  std::string compute_dtype = "None";
};

/// What rules want to know of the processor that the program is for, and of how it is built. The default is
/// any processor.
struct LegalizeTarget {
  bool fast_int8 = false;  ///< multiplies uint8 by int8 and adds up, in vectors: x86 with SSE 4.2 and better
  bool vnni = false;       ///< the same with sums of 32 bits in one instruction: AVX-512 VNNI
  RequantizeConfig requantize = {};
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
