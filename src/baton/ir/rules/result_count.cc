#include "baton/ir/rules/result_count.h"

#include "baton/ir/op.h"

namespace baton {

std::optional<int64_t> result_count(const CallNode& call) {
  const auto* rule = call.op() ? call.op()->rules.get<ResultCount>() : nullptr;
  if (!rule) return std::nullopt;
  return rule->of ? rule->of(call) : rule->always;
}

}  // namespace baton
