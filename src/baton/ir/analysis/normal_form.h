#pragma once
// Turning dataflow graphs into nested lets. A value is bound in the scope where all its users can see it:
// function bodies and branches of ifs are scopes, a let opens none.
#include "baton/ir/module.h"

namespace baton {

enum class NormalForm {
  kAll,     ///< A-normal form: every value but variables, globals and operators gets a name
  kShared,  ///< basic blocks: only what several scopes share gets one
};

/// All functions of `module` in that form, but primitive ones and those of other compilers. New variables are
/// called %x_0, %x_1, ... over the whole module. What changed has no types.
IRModule to_normal_form(IRModule module, NormalForm form);
/// One function, which may use variables from around it. `next`: the number of the next new variable.
Function to_normal_form(const Function& function, NormalForm form, uint64_t& next);

}  // namespace baton
