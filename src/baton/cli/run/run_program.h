#pragma once
// Runs programs with control flow, and shapes that are known at run time only, for `baton run`.
#include <string>
#include <vector>

#include "baton/cli/common.h"

namespace baton::cli {

/// The tensors that main returns, tuples flattened. `interpreter`: operator by operator; else the program is
/// built for the virtual machine. Throws Error for inputs that do not fit, and results that are no tensors.
std::vector<NDArray> run_program(const ModelFlags& flags, const GivenInputs& given, int threads,
                                 bool interpreter, Io& io);

/// The same for a built program in a file of `baton build`.
std::vector<NDArray> run_program_file(const std::string& path, const GivenInputs& given, int threads);

/// Whether the model needs one of them: the graph executor runs straight-line code of constant shapes.
bool needs_program(const ModelFlags& flags);

}  // namespace baton::cli
