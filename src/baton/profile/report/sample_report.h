#pragma once
// The output of `baton profile --sample`: shares of plain runs by kernel and stage.
#include <ostream>

#include "baton/driver/build_result.h"
#include "baton/profile/inside/sampling.h"
#include "baton/support/json.h"

namespace baton {

/// At most 120 columns. Omits stages below half a percent of their kernel.
void write_samples(std::ostream& out, const BuildResult& built, const ModelSamples& samples);

/// {"schema", "runs", "samples", "outside", "idle", "plain_us", "sampled_us", "overhead", "kernels":
/// [{"func_names", "share", "samples", "us", "stages": [{"stage", "operators", "holds", "share", "samples",
/// "us"}]}]}: design note 0013.
Json to_json(const BuildResult& built, const ModelSamples& samples);

}  // namespace baton
