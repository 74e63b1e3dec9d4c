#pragma once
// Scales and zero points in the forms that the lowering of quantised operators knows: scalars, or vectors
// with one value per channel, scales in float32.
#include "baton/ir/rules/legalize_rule.h"

namespace baton::qnn {

/// `rule` over arguments whose scales and zero points, which are those from `first` on (tensors, or tuples of
/// them), are in these forms: tensors of one element become scalars, float64 becomes float32.
LegalizeRule with_plain_pairs(size_t first, LegalizeRule rule);

}  // namespace baton::qnn
