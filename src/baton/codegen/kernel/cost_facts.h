#pragma once
// What operators cost at least, counted from their types and attributes: multiply-adds of convolutions and
// matrix products, elements of everything else.
#include <vector>

#include "baton/codegen/kernel/kernel.h"

namespace baton {

/// One operator call. A convolution counts all taps, padding included, by the definition (not by the
/// algorithm, such as Winograd's, that computes it).
CostFacts cost_of_call(const CallNode& call);

/// A fused function: the operations of all its calls; the bytes of its parameters and results only.
CostFacts cost_of_function(const FunctionNode& function, const std::vector<CostFacts>& calls);

}  // namespace baton
