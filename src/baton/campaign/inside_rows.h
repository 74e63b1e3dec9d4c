#pragma once
// The parts of kernels as measurements, for workers in this process.
#include <vector>

#include "baton/campaign/rows.h"

namespace baton {

/// Profiles the program of `source` and returns its rows of kind kPart. Throws Error, Interrupted.
std::vector<Measurement> inside_rows(const RowSource& source, const BuildContext& context);

}  // namespace baton
