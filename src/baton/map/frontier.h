#pragma once
// Exact and approximate search along the graph: a state is what the values that are still needed look like,
// so there are few states wherever few values are alive, whatever the length of the model.
#include <atomic>
#include <optional>

#include "baton/map/problem.h"

namespace baton {

struct FrontierOptions {
  size_t width = 4096;  ///< states kept after each node
  const std::atomic<bool>* interrupt = nullptr;
};

/// The cheapest mapping; exact (bound_us == us) if no state had to be left out and the direct conversions
/// form a tree (all devices behind one host, layouts behind their device). Else the bound comes from a second
/// search in which states are merged instead of left out, and every new format costs its cheapest direct
/// step. Limits of memory and of candidates are kept, but states that differ only in what they use of these
/// are one, and the bound is the one without limits. nullopt: no mapping was found. Throws Interrupted.
/// `problem` must pass check().
std::optional<MappingSolution> search_frontier(const MappingProblem& problem, const FrontierOptions& options);

}  // namespace baton
