#include "baton/map/model/map_report.h"

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

Estimate time_by_objective(const FusedTimes& times, double part) {
  if (times.other.us > 0) return times.other;
  Estimate time = times.plain;
  time.us *= part;
  for (double& round : time.rounds_us) round *= part;
  if (time.plus_minus_us) *time.plus_minus_us *= part;
  return time;
}

void MappedModel::set_times(const FusedTimes& times, double part) {
  serial_us = times.plain.us;
  computed_us = part * serial_us;
  measured = time_by_objective(times, part);
}

double MapReport::speedup() const {
  if (choice.chosen == choice.best_single) return 1;
  const auto time_of = [&](const MappedModel& model) {
    return predicted ? model.modelled_us : model.verified.us;
  };
  return time_of(best_single()) / time_of(best());
}

void MapReport::note_load() {
  for (const MappedModel& model : models)
    for (const Estimate* time : {&model.measured, &model.verified})
      if (!time->under_load.empty()) {
        notes.push_back("measured beside other programs (" + time->under_load +
                        "): times are those of the least disturbed runs, and a mapping is only kept when it "
                        "is faster by more than these can feign; --wait measures once the machine is quiet");
        return;
      }
}

}  // namespace baton
