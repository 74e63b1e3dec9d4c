#pragma once
// A lowered and planned model without compiled kernels: the input of the operator map.
#include <memory>
#include <string>

#include "baton/codegen/backend.h"
#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/driver/load_model.h"
#include "baton/driver/origins/operator_map.h"
#include "baton/driver/origins/origin_report.h"
#include "baton/pass/pass.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

namespace baton::test {

struct Lowered {
  IRModule source, optimized;
  GraphPlan plan;
  OriginReport origins;
  OperatorMap map;
};

inline Lowered lowered(const IRModule& typed, const NamedArrays& params, int opt_level) {
  Lowered result;
  result.source = typed;
  FusionLog fusion;
  const auto context = std::make_shared<PassContext>();
  context->opt_level = opt_level;
  BuildOptions options{.context = host_context().with_passes(context)};
  options.context.fusion_log = &fusion;
  options.params = params;
  result.optimized = optimized_for_build(typed, options);
  result.plan = make_plan(result.optimized);
  const OriginTable& table = result.optimized->origins();
  result.origins = origin_report(table, result.plan, source_graph(*typed), fusion);
  result.map = OperatorMap(result.plan.graph, with_lines(result.origins, table));
  return result;
}

inline Lowered lowered(const char* workload, int opt_level) {
  const LoadedModel model = load_model(workload);
  return lowered(model.module, load_params(model, ""), opt_level);
}

inline Lowered lowered_text(const std::string& text, int opt_level = 3) {
  initialize();
  return lowered(infer_types(parse_module(text, "net.relay")), {}, opt_level);
}

}  // namespace baton::test
