// Values used in several scopes are bound in the innermost scope that encloses them, so that each scope is a
// basic block:
//   if (c) { add(e, x) } else { log(e) }, e = exp(x)  ->  let x_1 = exp(x); if (c) { add(x_1, x) } else {
//   log(x_1) }

#include "baton/ir/analysis/normal_form.h"
#include "baton/pass/pass.h"

namespace baton {

Pass to_basic_block_normal_form() {
  return module_pass({1, "ToBasicBlockNormalForm", {}}, [](IRModule module, const PassContext&) {
    return to_normal_form(std::move(module), NormalForm::kShared);
  });
}

}  // namespace baton
