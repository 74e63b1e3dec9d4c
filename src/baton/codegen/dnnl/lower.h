#pragma once
// Describes functions as oneDNN primitives.
#include <string>
#include <vector>

#include "baton/codegen/dnnl/region.h"
#include "baton/ir/expr.h"

namespace baton {

/// `function`: typed, of static shapes, straight-line; composite functions may be called. Biases, residual
/// sums and activations become post-operations of the step that makes their operand, when nothing else reads
/// it; reshapes and transpositions are views. Throws NotSupported, with the operator and the reason.
DnnlRegion lower_for_dnnl(const FunctionNode& function, const std::string& symbol);

/// The primitives of one typed call, whose operands are inputs or constants. Throws NotSupported.
DnnlRegion lower_call_for_dnnl(const CallNode& call);

/// Why no primitive computes a typed call; empty when one does. oneDNN itself is not asked.
std::string dnnl_refusal(const CallNode& call);

/// The operators that lowering knows, sorted.
std::vector<std::string> dnnl_operators();

/// The blob for `regions`; `check_only`: without the data of constants.
std::string dnnl_blob_of(std::vector<DnnlRegion> regions, bool check_only);

}  // namespace baton
