#include "baton/ir/rules/position_free_rule.h"

#include "baton/ir/expr.h"
#include "baton/ir/op.h"

namespace baton {

bool is_position_free(const CallNode& call) {
  const OpDef* op = call.op();
  if (!op || op->stateful) return false;
  if (op->fuse == Fuse::kBroadcast) return !call.attrs();
  if (op->fuse != Fuse::kElementwise || call.args().size() != 1) return false;
  // The shapes must be equal: `full` repeats a scalar in the shape that its attributes name.
  const auto *from = as_type<TensorTypeNode>(type_of(call.args()[0])),
             *to = as_type<TensorTypeNode>(call.checked_type());
  return from && to && from->is_known() && from->shape() == to->shape();
}

}  // namespace baton
