#pragma once
// Legalization: replaces an operator by ones that kernels exist for. Attached through OpDef::rules, read by
// Legalize.
#include <functional>
#include <string>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// Rounding mode and compute type of qnn.requantize; the defaults for attributes that are "None".
struct RequantizeConfig {
  std::string rounding = "UPWARD";  ///< UPWARD (x.5 to x + 1) or TONEAREST (halves away from zero)
  /// int64: fixed point; float32, float64: floating point. By default float32 on targets where its vectors
  /// are faster (SSE 4.1), else int64.
  std::string compute_dtype = "None";
};

/// Target features that rules depend on, and build options. The default is a generic processor.
struct LegalizeTarget {
  bool fast_int8 = false;  ///< has vector uint8 x int8 multiply-add: x86 with SSE 4.2 or better
  bool vnni = false;       ///< the same accumulating in 32 bits, in one instruction: AVX-512 VNNI
  RequantizeConfig requantize = {};
};

struct LegalizeRule {
  /// The replacement of the call, or null to keep it. `call` has rewritten arguments; types are those of the
  /// original program.
  using Rewrite = std::function<Expr(const CallNode& call, const std::vector<Type>& arg_types,
                                     const Type& type, const LegalizeTarget& target)>;
  Rewrite legalize;          ///< for Legalize
  Rewrite qnn_legalize;      ///< for qnn.Legalize: types without a target instruction
  Rewrite qnn_canonicalize;  ///< for qnn.CanonicalizeOps: lowers qnn operators to integer operators
};

}  // namespace baton
