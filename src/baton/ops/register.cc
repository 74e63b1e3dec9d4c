#include "baton/ops/register.h"

#include "baton/ir/op.h"

namespace baton {

#define BATON_OP(function) const OpDef& function();
#include "baton/ops/ops.def"
#undef BATON_OP

void register_all_ops() {
  static const bool once = [] {
    register_ops({
#define BATON_OP(function) &function(),
#include "baton/ops/ops.def"
#undef BATON_OP
    });
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace baton
