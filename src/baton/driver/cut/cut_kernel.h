#pragma once
// A kernel as it was built, as a program of its own: the fused function with its packed layouts and folded
// constants.
#include "baton/driver/cut/cut_values.h"

namespace baton {

struct CutKernel {
  Cut cut;  ///< main is the fused function; operators: those it computes
  CutArrays arrays;
};

/// What node `node` of graph.json calls, with what it really reads and writes when the model runs on `inputs`
/// (the rest by the tensor rule). Throws Error for an input or a constant.
CutKernel cut_kernel(const BuildResult& built, int node, const NamedArrays& inputs);

}  // namespace baton
