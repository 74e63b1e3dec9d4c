#include "baton/map/measure/map_model.h"

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

double MapReport::speedup() const {
  const MappedModel &here = models[chosen], &single = models[best_single];
  const bool measured = here.measured_us > 0 && single.measured_us > 0;
  const double a = measured ? single.measured_us : single.modelled_us;
  const double b = measured ? here.measured_us : here.modelled_us;
  return b > 0 ? a / b : 1;
}

}  // namespace baton
