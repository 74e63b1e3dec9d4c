#pragma once
// What every program keeps to, whatever its types are. Passes rely on it.
#include <string>
#include <vector>

#include "baton/ir/module.h"

namespace baton {

/// One reason why a program is not well-formed.
struct FormFault {
  Expr at;  ///< the variable, function or match it was found at
  std::string text;
};

struct FormOptions {
  bool closed = false;  ///< free variables and free type variables are faults, too
  const IRModuleNode* module =
      nullptr;  ///< when given: the names of functions and the constructors must be in it
};

/// The faults of `root`: a variable that is bound twice, is used outside the function, let or clause that
/// binds it, or before that; a constructor's pattern with another number of fields than the constructor has.
/// A node that is used in several places is looked at once, in the first of them.
std::vector<FormFault> form_faults(const Expr& root, const FormOptions& options = {});
/// The faults of all functions, which must be closed, and of the definitions of data types: kinds, and type
/// variables that they do not declare.
std::vector<FormFault> form_faults(const IRModuleNode& module);

/// Constructors with another number of fields than the pattern gives them and, with a module, those it does
/// not define.
std::vector<std::string> pattern_faults(const PatternNode& pattern, const IRModuleNode* module);

bool well_formed(const Expr& root);
bool well_formed(const IRModuleNode& module);

}  // namespace baton
