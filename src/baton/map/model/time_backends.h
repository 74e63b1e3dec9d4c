#pragma once
// The builds that are timed before any search.
#include "baton/map/model/map_models.h"

namespace baton {

/// The model on each backend alone, with the processor for what it does not take; for a device that has no
/// room for that, in portions that fit. Throws UsageError for operators that are pinned to a backend which
/// does not take them, Error where the processor cannot compute the model.
MapModels time_backends(const MapTask& task, MapRun& run);

/// Adds the processor's builds with all layers in one variant: what differs from its own choice is a
/// candidate.
MapModels time_variants(const MapTask& task, MapRun& run, MapModels models);

/// Adds mappings from files.
MapModels time_given(const MapTask& task, MapRun& run, MapModels models);

}  // namespace baton
