#pragma once
// Runs programs with control flow, and shapes that are known at run time only, for `baton run`. All return
// the tensors that main returns, tuples flattened, and throw Error for inputs that do not fit, and results
// that are no tensors.
#include <string>
#include <vector>

#include "baton/cli/common.h"

namespace baton::cli {

/// `built`: with a program for the virtual machine.
std::vector<NDArray> run_built_program(const BuiltModel& built, const ModelFlags& flags,
                                       const GivenInputs& given, int threads, Io& io);

/// A built program in a file of `baton build`. `shapes`: "x=3,16", of parameters that have no value.
std::vector<NDArray> run_program_file(const std::string& path, const GivenInputs& given,
                                      const std::vector<std::string>& shapes, int threads);

/// Operator by operator.
std::vector<NDArray> run_interpreted(const ModelFlags& flags, const GivenInputs& given, int threads, Io& io);

}  // namespace baton::cli
