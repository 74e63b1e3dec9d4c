#pragma once
// Evaluates a model operator by operator: programs with control flow and open shapes, which no build takes.
#include <vector>

#include "baton/cli/common.h"

namespace baton::cli {

/// The tensors of main's result, tuples flattened. Parameters of main that neither `given` nor --params has
/// get values by the tensor rule; Error for one of them whose type is no tensor of known shape.
std::vector<NDArray> interpreted(const ModelFlags& flags, const GivenInputs& given, int threads, Io& io);

}  // namespace baton::cli
