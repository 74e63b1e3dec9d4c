#include "baton/map/model/map_report.h"

#include <algorithm>
#include <cmath>

#include "baton/profile/measure/significance.h"

namespace baton {

bool MappedModel::is_same(const MappedModel& other) const {
  for (size_t i = 0; i < backend_of.size(); ++i)
    if (backend_of[i] >= 0 && other.backend_of[i] >= 0 && backend_of[i] != other.backend_of[i]) return false;
  if (!pinned && !other.pinned) return true;
  if (variant_of.size() != other.variant_of.size()) return false;
  for (size_t i = 0; i < variant_of.size(); ++i)
    if (variant_of[i] != LayerVariant::kByCost && other.variant_of[i] != LayerVariant::kByCost &&
        variant_of[i] != other.variant_of[i])
      return false;
  return true;
}

void MappedModel::set_times(const FusedTimes& times, double part) {
  serial_us = times.plain.us;
  computed_us = part * serial_us;
  const bool by_objective = times.other.us > 0;
  const Estimate& measured = by_objective ? times.other : times.plain;
  measured_us = by_objective ? measured.us : computed_us;
  rounds_us = measured.rounds_us;
  plus_minus_us = measured.plus_minus_us.value_or(0);
  under_load = measured.under_load;
  if (by_objective) return;
  for (double& round : rounds_us) round *= part;
  plus_minus_us *= part;
}

double MapReport::speedup() const {
  const MappedModel &here = models[chosen], &single = models[best_single];
  const bool measured = here.measured_us > 0 && single.measured_us > 0;
  const double a = measured ? single.measured_us : single.modelled_us;
  const double b = measured ? here.measured_us : here.modelled_us;
  return b > 0 ? a / b : 1;
}

void MapReport::choose(const std::vector<bool>& usable) {
  const auto time_of = [&](const MappedModel& model) {
    return predicted || model.measured_us <= 0 ? model.modelled_us : model.measured_us;
  };
  // The first of equal ones: single backends come first.
  const auto fastest = [&](bool only_single) {
    std::optional<size_t> found;
    for (size_t i = 0; i < models.size(); ++i) {
      const double us = time_of(models[i]);
      if (!usable[i] || us <= 0 || (only_single && !models[i].single)) continue;
      if (!found || us < time_of(models[*found])) found = i;
    }
    return found;
  };
  chosen = fastest(false).value_or(0);
  // Some backends may not have all their costs known.
  best_single = fastest(true).value_or(chosen);
  if (chosen == best_single) return;
  const MappedModel &best = models[chosen], &single = models[best_single];
  if (predicted || best.measured_us <= 0 || single.measured_us <= 0) return;
  // Within the noise, or where it is not known, the simpler one is taken.
  const bool energy = objective == MapObjective::kEnergy;
  const bool in_turn = best.rounds_us.size() == single.rounds_us.size();
  std::optional<double> half = best.rounds_us.empty() || single.rounds_us.empty()
                                   ? std::nullopt
                                   : rounds_difference(single.rounds_us, best.rounds_us, in_turn).half;
  if (!half) {
    notes.push_back(best.name + " may be better than " + single.name +
                    ", but too few rounds were measured to say so: the single backend is kept; "
                    "--max-seconds gives more time");
    chosen = best_single;
    return;
  }
  for (const MappedModel* each : {&best, &single})
    if (!each->under_load.empty()) half = std::hypot(*half, kAlikeInTurn * each->plus_minus_us);
  plus_minus = *half / single.measured_us;
  if (single.measured_us - best.measured_us >= *half) return;
  notes.push_back(best.name + (energy ? " does not need less energy than " : " is not faster than ") +
                  single.name + " beyond the noise of +-" +
                  std::to_string(static_cast<int>(std::ceil(100 * plus_minus))) +
                  " %: the single backend is kept");
  chosen = best_single;
}

void MapReport::note_load() {
  const auto loaded =
      std::ranges::find_if(models, [](const MappedModel& each) { return !each.under_load.empty(); });
  if (loaded != models.end())
    notes.push_back("measured beside other programs (" + loaded->under_load +
                    "): times are those of the least disturbed runs, and a mapping is only kept when it is "
                    "faster by more than these can feign; --wait measures once the machine is quiet");
}

}  // namespace baton
