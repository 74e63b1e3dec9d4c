#pragma once
#include "baton/ir/legalize_rule.h"
#include "baton/pass/pass.h"

namespace baton {

/// Legalize for programs that run on `target`.
Pass legalize_for(const LegalizeTarget& target);
/// The same with the rules for quantised operators: types that the target can multiply, then integer operators.
Pass qnn_legalize_for(const LegalizeTarget& target);
Pass qnn_canonicalize_for(const LegalizeTarget& target);
/// Both, under the name that the pipelines know them by: "qnn.Legalize".
Pass qnn_lowering_for(const LegalizeTarget& target);

}  // namespace baton
