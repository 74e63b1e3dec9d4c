// Costs of calls and functions: operations by `.cost` of the operator's block or its class (cost.h), bytes by
// what is read (read_rule.h).
#include <algorithm>

#include "baton/ir/op.h"
#include "baton/ir/rules/cost.h"
#include "baton/ir/rules/read_rule.h"

namespace baton {

namespace {

CostFacts cost_by_class(Fuse fuse, const CostQuery& q) {
  switch (fuse) {
    case Fuse::kElementwise:
    case Fuse::kBroadcast:
      return q.computing(q.output_elements());
    case Fuse::kInjective:
    case Fuse::kTuple:
      return moving_cost(q);
    case Fuse::kCommReduce:
    case Fuse::kOutFusable:
    case Fuse::kOpaque:
      return q.computing(std::max(q.output_elements(), q.inputs.empty() ? 0.0 : q.input_elements()));
  }
  return {};
}

}  // namespace

CostFacts cost_of_call(const CallNode& call) {
  const CostQuery q = cost_query(call);
  const OpDef& op = *call.op();
  return {(op.cost ? op.cost(q) : cost_by_class(op.fuse, q)).flops, bytes_moved(call)};
}

CostFacts cost_of_function(const FunctionNode& function, const std::vector<CostFacts>& calls) {
  CostFacts sum;
  for (const CostFacts& call : calls) sum.flops += call.flops;
  sum.bytes = bytes_moved(function);
  return sum;
}

}  // namespace baton
