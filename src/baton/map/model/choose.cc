#include "baton/map/model/choose.h"

#include <cmath>
#include <cstdio>
#include <optional>

#include "baton/profile/measure/significance.h"

namespace baton {

namespace {

/// Half of the interval within which another process finds the difference of the two; nullopt: too few
/// rounds.
std::optional<double> difference_apart(const Estimate& single, const Estimate& mapping) {
  if (single.rounds_us.empty() || mapping.rounds_us.empty()) return std::nullopt;
  const bool in_turn = single.rounds_us.size() == mapping.rounds_us.size();
  std::optional<double> half = rounds_difference(single.rounds_us, mapping.rounds_us, in_turn).half;
  if (!half) return std::nullopt;
  // That of the median, of which the other process has one, too; and what processes differ by at least.
  half = std::sqrt(2) * std::hypot(*half, kBetweenProcesses * single.us);
  for (const Estimate* each : {&single, &mapping})
    if (!each->under_load.empty()) half = std::hypot(*half, kAlikeInTurn * each->plus_minus_us.value_or(0));
  return half;
}

}  // namespace

MapChoice choose(const std::vector<MappedModel>& models, const std::vector<bool>& usable, bool predicted) {
  const auto time_of = [&](const MappedModel& model) {
    return predicted || model.measured.us <= 0 ? model.modelled_us : model.measured.us;
  };
  const auto fastest = [&](bool only_single) {
    std::optional<size_t> found;
    for (size_t i = 0; i < models.size(); ++i) {
      const double us = time_of(models[i]);
      if (!usable[i] || us <= 0 || (only_single && !models[i].single)) continue;
      if (!found || us < time_of(models[*found])) found = i;
    }
    return found;
  };
  MapChoice choice;
  choice.chosen = fastest(false).value_or(0);
  // Some backends may not have all their costs known.
  choice.best_single = fastest(true).value_or(choice.chosen);
  return choice;
}

std::vector<size_t> rivals_of(const std::vector<MappedModel>& models, const std::vector<bool>& usable,
                              const MapChoice& choice) {
  std::vector<size_t> rivals{choice.best_single};
  const Estimate& best = models[choice.best_single].measured;
  for (size_t i = 0; i < models.size(); ++i) {
    const Estimate& time = models[i].measured;
    if (i == choice.best_single || !models[i].single || !usable[i] || time.us <= 0) continue;
    const bool known = time.plus_minus_us && best.plus_minus_us;
    if (!known || time.us - *time.plus_minus_us <= best.us + *best.plus_minus_us) rivals.push_back(i);
  }
  return rivals;
}

JudgedChoice judge(const std::vector<MappedModel>& models, const MapChoice& choice, MapObjective objective) {
  size_t single = choice.best_single;
  for (size_t i = 0; i < models.size(); ++i)
    if (models[i].single && models[i].verified.us > 0 &&
        (models[single].verified.us <= 0 || models[i].verified.us < models[single].verified.us))
      single = i;
  if (choice.chosen == choice.best_single) return {{single, single}};
  const MappedModel &mapping = models[choice.chosen], &best = models[single];
  const std::optional<double> apart = difference_apart(best.verified, mapping.verified);
  if (!apart)
    return {{single, single},
            mapping.name + " may be better than " + best.name + ", but too few rounds (" +
                std::to_string(mapping.verified.rounds_us.size()) +
                ") were measured after it was chosen to say so: the single backend is kept; --max-seconds "
                "gives more time"};
  const double saved = best.verified.us - mapping.verified.us, plus_minus = *apart / best.verified.us;
  if (saved >= *apart) return {{choice.chosen, single, plus_minus}};
  const bool energy = objective == MapObjective::kEnergy;
  char text[120];
  std::snprintf(text, sizeof text,
                " beyond the noise of +-%.0f %% (%.3fx, in rounds measured after it was chosen): the single "
                "backend is kept",
                std::ceil(100 * plus_minus), best.verified.us / mapping.verified.us);
  return {{single, single},
          mapping.name + (energy ? " does not need less energy than " : " is not faster than ") + best.name +
              text};
}

}  // namespace baton
