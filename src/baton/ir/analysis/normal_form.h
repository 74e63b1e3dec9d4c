#pragma once
// Converts dataflow graphs to nested lets. A value is bound in the innermost scope that encloses all its
// uses: function bodies and if branches open scopes, lets do not.
#include "baton/ir/module.h"

namespace baton {

enum class NormalForm {
  kAll,     ///< A-normal form: every value except variables, globals and operators is bound
  kShared,  ///< basic-block form: only values used in several scopes are bound
};

/// Converts all functions of `module` except primitive ones and those for external compilers. New variables
/// are named %x_0, %x_1, ... across the module. Changed functions are untyped.
IRModule to_normal_form(IRModule module, NormalForm form);
/// Converts one function, which may have free variables. `next`: the number of the next new variable.
Function to_normal_form(const Function& function, NormalForm form, uint64_t& next);

}  // namespace baton
