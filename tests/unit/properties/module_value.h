#pragma once
// Reference evaluation of a program: operator by operator, in textual order.
#include <string>
#include <vector>

#include "baton/ir/module.h"

#include "transform/program_interpreter.h"

namespace baton::properties {

/// The tensors returned by `main` of a typed module, with parameters by the rule of the reference data;
/// `%w.T` is the transpose of %w. NotSupported for constructs the interpreter does not support, and for
/// parameters that are not tensors of static shape.
std::vector<NDArray> value_of_main(run::Interpreter& interpreter, const IRModule& module);

/// Largest difference between two lists of tensors, relative to 1 + the larger magnitude; infinity when
/// shapes or types differ.
double difference(const std::vector<NDArray>& a, const std::vector<NDArray>& b);

}  // namespace baton::properties
