#include "baton/map/measure/model_prices.h"

#include <cmath>

namespace baton {

std::optional<double> layout_rate(std::span<const MeasuredBuild> builds, size_t backend) {
  double us = 0, bytes = 0;
  for (const MeasuredBuild& build : builds)
    for (size_t n = 0; n < build.plan->nodes.size(); ++n) {
      const PlanNode& node = build.plan->nodes[n];
      if (!node.origins.empty() || node.kind != PlanNode::Kind::kKernel || std::isnan(build.node_us[n]))
        continue;
      if (static_cast<size_t>(build.node_backend[n]) != backend) continue;
      us += build.node_us[n];
      bytes += static_cast<double>(build.plan->entries[node.first_entry].bytes());
    }
  return bytes > 0 ? std::optional(us / bytes) : std::nullopt;
}

double bytes_on(const MeasuredBuild& build, size_t backend) {
  double bytes = 0;
  for (size_t n = 0; n < build.node_bytes.size(); ++n)
    if (static_cast<size_t>(build.node_backend[n]) == backend) bytes += build.node_bytes[n];
  return bytes;
}

void to_energy(ModelProblem& model, std::span<const double> watts) {
  for (size_t c = 0; c < model.candidates.size(); ++c) {
    const double here = watts[model.candidates[c].backend];
    model.problem.candidates[c].us *= here > 0 ? here : watts[0];
  }
  for (auto& row : model.problem.conversions)
    for (auto& conversion : row)
      if (conversion) *conversion = {conversion->fixed_us * watts[0], conversion->us_per_byte * watts[0]};
}

}  // namespace baton
