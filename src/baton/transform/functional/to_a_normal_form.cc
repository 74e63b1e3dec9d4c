// Binds every intermediate value to a variable:
//   add(exp(x), y)  ->  let x_1 = exp(x); let x_2 = add(x_1, y); x_2

#include "baton/ir/analysis/normal_form.h"
#include "baton/pass/pass.h"

namespace baton {

Pass to_a_normal_form() {
  return module_pass({1, "ToANormalForm", {}}, [](IRModule module, const PassContext&) {
    return to_normal_form(std::move(module), NormalForm::kAll);
  });
}

}  // namespace baton
