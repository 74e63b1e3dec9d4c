#pragma once
// The arrays of a cut: its weights, and what the program really computes at its inputs and outputs.
#include "baton/driver/build.h"
#include "baton/driver/cut/cut.h"

namespace baton {

struct CutArrays {
  NamedArrays params;   ///< weights and constants, by the parameters of the cut's main
  NamedArrays inputs;   ///< the rest of its parameters
  NamedArrays outputs;  ///< "output0", "output1", ..
};

/// Builds and runs `graph`'s program as far as the cut needs it. `options.params`: its weights; `inputs`:
/// values of other parameters, those that are missing by the tensor rule. Programs with control flow run
/// operator by operator. Throws Error for a name in `inputs` that main does not have.
CutArrays cut_arrays(const CutGraph& graph, const Cut& cut, const BuildOptions& options,
                     const NamedArrays& inputs);

/// `graph`'s program with `values` of its own as its result, a tuple.
IRModule program_returning(const CutGraph& graph, const std::vector<Expr>& values);

/// The values that are given by name, or made by the tensor rule, for the inputs of `executor`; Error for
/// other names.
void set_model_inputs(Executor& executor, const NamedArrays& given);

}  // namespace baton
