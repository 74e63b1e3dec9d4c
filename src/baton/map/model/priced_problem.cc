#include "baton/map/model/priced_problem.h"

#include <span>

namespace baton {

namespace {

/// Microjoules in place of microseconds: each backend's times by its power, conversions by that of the
/// processor, the first. `watts`: by backend; 0: not known, the processor's is taken.
void to_energy(ModelProblem& model, std::span<const double> watts) {
  for (size_t c = 0; c < model.candidates.size(); ++c) {
    const double here = watts[model.candidates[c].backend];
    model.problem.candidates[c].us *= here > 0 ? here : watts[0];
  }
  for (auto& row : model.problem.conversions)
    for (auto& conversion : row)
      if (conversion) *conversion = {conversion->fixed_us * watts[0], conversion->us_per_byte * watts[0]};
}

}  // namespace

ModelProblem priced_problem(const MapTask& task, const MapModels& models, const MapPrices& prices,
                            const MapBans& banned, bool guesses) {
  ModelPrices all = task.machine;
  all.links = prices.links;
  for (const auto& [backend, us_per_byte] : models.layout_us_per_byte)
    all.backends[backend].layout.us_per_byte = us_per_byte;
  all.piece_us = [&](size_t backend, const std::vector<uint32_t>& operators) {
    const auto at = prices.pieces.find({backend, operators});
    return at == prices.pieces.end() ? std::nullopt : at->second;
  };
  if (guesses)
    all.guesses_piece = [&](size_t backend, const std::vector<uint32_t>& operators) {
      return !prices.pieces.contains({backend, operators});
    };
  all.allowed = [&](size_t backend, uint32_t id) {
    return allows(task.options.rules, task.backends[backend], id) && !banned.contains({backend, id});
  };
  std::vector<MeasuredBuild> builds = models.builds;
  builds.insert(builds.end(), models.portions.begin(), models.portions.end());
  ModelProblem model = model_problem(builds, all);
  model.problem.overlap = models.overlap_share;
  if (task.options.objective != MapObjective::kEnergy) return model;
  std::vector<double> watts;  // while each backend computes all that it takes; 0: not measured
  for (size_t b = 0; b < task.backends.size(); ++b) {
    const MappedModel& single = models.all[b];
    watts.push_back(single.serial_us > 0 ? single.measured.us / single.serial_us : 0);
  }
  to_energy(model, watts);
  return model;
}

}  // namespace baton
