#pragma once
// Parts of programs as programs of their own.
#include <map>
#include <string>
#include <vector>

#include "baton/ir/module.h"

namespace baton {

/// main up to its call, tuple or item of a tuple number `index`, counted from 0 in the order of evaluation.
/// UsageError when there are not so many.
IRModule extract_value(const IRModuleNode& module, int64_t index);

/// The primitive functions of all functions, by their structural hash: equal ones once.
std::map<std::string, Function> primitive_functions(const IRModuleNode& module);

/// What goes into and comes out of the functions of other compilers (those with Compiler) that main calls by
/// name.
struct Calibration {
  IRModule module;  ///< main returns the tuple of all these values; the functions are ordinary ones
  struct Values {
    std::string function;
    int64_t first = 0, inputs = 0,
            outputs = 0;  ///< the inputs begin at item `first` of that tuple, outputs follow
  };
  std::vector<Values> values;
};
Calibration calibration_of(const IRModuleNode& module);

}  // namespace baton
