#pragma once
// Well-formedness: type-independent invariants of every program, which passes rely on.
#include <string>
#include <vector>

#include "baton/ir/module.h"

namespace baton {

/// One reason why a program is not well-formed.
struct FormFault {
  Expr at;  ///< the offending variable, function or match
  std::string text;
};

struct FormOptions {
  bool closed = false;  ///< free variables and free type variables are faults too
  const IRModuleNode* module =
      nullptr;  ///< when given, it must contain the referenced functions and constructors
};

/// The faults of `root`: a variable bound twice, used outside the scope that binds it, or used before its
/// binding; a constructor pattern with the wrong number of fields. A shared node is checked once, at its
/// first occurrence.
std::vector<FormFault> form_faults(const Expr& root, const FormOptions& options = {});
/// The faults of all functions, which must be closed, and of the data type definitions: kind errors and
/// undeclared type variables.
std::vector<FormFault> form_faults(const IRModuleNode& module);

/// Constructors whose number of fields differs from the pattern's and, given a module, constructors it does
/// not define.
std::vector<std::string> pattern_faults(const PatternNode& pattern, const IRModuleNode* module);

bool well_formed(const Expr& root);
bool well_formed(const IRModuleNode& module);

}  // namespace baton
