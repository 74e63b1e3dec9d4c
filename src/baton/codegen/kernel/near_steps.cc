#include "baton/codegen/kernel/near_steps.h"

#include <algorithm>

#include "baton/ir/build.h"
#include "baton/ir/extent.h"
#include "baton/ir/inspect.h"

namespace baton {

namespace {

/// The longest axis of the operands and results, and the cells of all paddings; INT64_MAX where that is too
/// much.
int64_t reach_of(const CallNode& call) {
  int64_t reach = 1;
  const auto look_at = [&](const Type& type) {
    for (const TensorTypeNode* tensor : flat_types(type))
      for (const Dim& extent : tensor->shape())
        reach = std::max(reach, number_of(extent, "a number for an axis that long steps go along"));
  };
  for (const Expr& arg : call.args()) look_at(type_of(arg));
  look_at(call.checked_type());
  if (!call.attrs()->schema().find("padding")) return reach;
  for (const int64_t cells : ints_attr(call, "padding"))
    if (cells > 0 && __builtin_add_overflow(reach, 2 * std::min(cells, INT64_MAX / 2), &reach))
      return INT64_MAX;
  return reach;
}

}  // namespace

Call with_near_steps(const Call& call) {
  if (!call->attrs()) return call;
  NamedAttrs nearer;
  for (const char* name : {"strides", "dilation", "dilations"}) {
    if (!call->attrs()->schema().find(name)) continue;
    std::vector<int64_t> steps = ints_attr(*call, name);
    const auto is_far = [](int64_t step) { return step > INT16_MAX || step < INT16_MIN; };
    if (std::ranges::none_of(steps, is_far)) continue;
    const int64_t reach = reach_of(*call);
    for (int64_t& step : steps) step = std::clamp(step, -reach, reach);
    nearer.emplace_back(name, steps);
  }
  return nearer.empty() ? call : with_attrs(*call, with_fields(call->attrs(), nearer));
}

}  // namespace baton
