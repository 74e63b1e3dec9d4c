#pragma once
// Extracts parts of programs as modules.
#include <map>
#include <string>
#include <vector>

#include "baton/ir/module.h"

namespace baton {

/// main up to its call, tuple or tuple item number `index`, counted from 0 in evaluation order. UsageError
/// when `index` is out of range.
IRModule extract_value(const IRModuleNode& module, int64_t index);

/// The primitive functions in all functions, keyed by structural hash, without duplicates.
std::map<std::string, Function> primitive_functions(const IRModuleNode& module);

/// The inputs and outputs of the external-compiler functions (those with Compiler) that main calls by name.
struct Calibration {
  IRModule module;  ///< main returns a tuple of all these values; the functions are made ordinary
  struct Values {
    std::string function;
    int64_t first = 0, inputs = 0,
            outputs = 0;  ///< the inputs start at item `first` of that tuple, followed by the outputs
  };
  std::vector<Values> values;
};
Calibration calibration_of(const IRModuleNode& module);

}  // namespace baton
