#pragma once
// Extracts a built kernel as a program: the fused function with its packed layouts and folded constants.
#include "baton/driver/cut/cut_values.h"

namespace baton {

struct CutKernel {
  Cut cut;  ///< main is the fused function; operators: those it computes
  CutArrays arrays;
};

/// The kernel called by node `node` of graph.json, with its operands and results when the model runs on
/// `inputs` (missing inputs by the tensor rule). Throws Error for an input or a constant.
CutKernel cut_kernel(const BuildResult& built, int node, const NamedArrays& inputs);

}  // namespace baton
