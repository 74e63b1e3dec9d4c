#pragma once
// Turning dataflow graphs into nested lets. A value is bound in the scope where all its users can see it: function
// bodies and branches of ifs are scopes, a let opens none.
#include "baton/ir/expr.h"

namespace baton {

enum class NormalForm {
  kAll,     ///< A-normal form: every value but variables, globals and operators gets a name
  kShared,  ///< basic blocks: only what several scopes share gets one
};

/// `function` in that form. Primitive functions are not entered.
Function to_normal_form(const Function& function, NormalForm form);

/// A variable with a name no other has in this process: %x_70.
Var fresh_var(const Type& type);

}  // namespace baton
