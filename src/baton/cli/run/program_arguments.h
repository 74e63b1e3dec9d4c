#pragma once
// Values for the parameters of a program's main.
#include <string>
#include <vector>

#include "baton/cli/common.h"
#include "baton/runtime/values/value.h"
#include "baton/runtime/vm/program.h"

namespace baton::cli {

/// Null: there is none of that name.
const NDArray* find_array(const NamedArrays& arrays, const std::string& name);
/// Throws Error for an array of `arrays`, which `path` holds, that is no parameter.
void check_names(const NamedArrays& arrays, const std::string& path, const std::vector<Var>& params);

/// The parameters that are inputs: those named, by default `data`, else the first one. UsageError for unknown
/// names.
std::vector<std::string> program_inputs(const ModelFlags& flags, const std::vector<Var>& params);

/// One value for each parameter, whose types are inferred: of `given`, else of `weights` (of the file
/// --params), else by the tensor rule, as `inputs` or weights. Says on `io.err` which inputs `given` lacks.
/// Throws Error for values that do not fit, or not to each other, and for parameters without a value that
/// are no tensors of constant shape.
std::vector<program::Value> program_arguments(const std::vector<Var>& params, const GivenInputs& given,
                                              const NamedArrays& weights, const std::string& weights_path,
                                              const std::vector<std::string>& inputs, Io& io);

/// The same for a built program, whose weights are constants. `shapes`: as for load_model(), of extents that
/// the build leaves open.
std::vector<program::Value> arguments_of(const BuiltModel& built, const ModelFlags& flags,
                                         const GivenInputs& given, const std::vector<std::string>& shapes,
                                         Io& io);

/// The same for the program of a file.
std::vector<program::Value> file_arguments(const vm::Program& program, const Artifact& file,
                                           const std::string& path, const GivenInputs& given,
                                           const std::vector<std::string>& shapes);

}  // namespace baton::cli
