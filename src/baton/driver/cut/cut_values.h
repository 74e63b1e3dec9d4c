#pragma once
// The arrays of a cut: its weights, and the actual values at its inputs and outputs.
#include "baton/driver/build.h"
#include "baton/driver/cut/cut.h"

namespace baton {

struct CutArrays {
  NamedArrays params;   ///< weights and constants, by parameters of the cut's main
  NamedArrays inputs;   ///< the rest of its parameters
  NamedArrays outputs;  ///< "output0", "output1", ..
};

/// Builds and runs the part of `graph`'s program that the cut needs. `options.params`: weights; `inputs`:
/// values of other parameters, missing ones by the tensor rule. Programs with control flow run operator by
/// operator. Throws Error for a name in `inputs` that main does not have.
CutArrays cut_arrays(const CutGraph& graph, const Cut& cut, const BuildOptions& options,
                     const NamedArrays& inputs);

/// `graph`'s program with a tuple of `values` as its result.
IRModule program_returning(const CutGraph& graph, const std::vector<Expr>& values);

}  // namespace baton
