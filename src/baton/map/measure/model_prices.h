#pragma once
// Prices that follow from the builds measured.
#include <optional>
#include <span>
#include <vector>

#include "baton/map/model_problem.h"

namespace baton {

/// Microseconds per byte of a backend's changes of layout in these builds; nullopt: there are none.
std::optional<double> layout_rate(std::span<const MeasuredBuild> builds, size_t backend);

/// Bytes of its device's memory that a backend's kernels need in a build.
double bytes_on(const MeasuredBuild& build, size_t backend);

/// Microjoules in place of microseconds: each backend's times by its power, conversions by that of the
/// processor, the first. `watts`: by backend; 0: not known, the processor's is taken.
void to_energy(ModelProblem& model, std::span<const double> watts);

}  // namespace baton
