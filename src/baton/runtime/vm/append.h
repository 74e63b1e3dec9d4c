#pragma once
// Tensors that loops collect, one turn after the other.
#include "baton/runtime/values/value.h"
#include "baton/support/base/status.h"

namespace baton::vm {

/// `whole` with `part` behind it along the first axis: a tensor of its rank, or one row, without that axis.
/// Where nobody else has `whole`, its memory is written on, and from the second time on grows by doubling: a
/// loop that collects n rows copies 2 n of them. Fails for values that do not fit together.
Result<program::Value> appended(program::Value whole, const program::Value& part);

}  // namespace baton::vm
