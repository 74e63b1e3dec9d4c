#pragma once
// What a program computes, by the plainest way there is: one operator after another, as the text says.
#include <string>
#include <vector>

#include "baton/ir/module.h"

#include "transform/program_interpreter.h"

namespace baton::properties {

/// The tensors that `main` of a typed module returns, parameters by the rule of the reference data; of a
/// `%w.T` those of %w, transposed. NotSupported for what the interpreter does not know, and for parameters
/// that are no tensors of known shape.
std::vector<NDArray> value_of_main(run::Interpreter& interpreter, const IRModule& module);

/// Largest difference between two lists of tensors, relative to 1 + the larger magnitude; infinity when
/// shapes or types differ.
double difference(const std::vector<NDArray>& a, const std::vector<NDArray>& b);

}  // namespace baton::properties
