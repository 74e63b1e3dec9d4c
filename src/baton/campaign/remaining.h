#pragma once
// What a campaign still has to measure, by the rows that the store has of it.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "baton/campaign/rows.h"
#include "baton/store/store.h"

namespace baton {

/// Behind the configuration's key in rows of its second visit, or a later one; empty: of the first.
std::string visit_suffix(int visit);
/// The configuration's key, and which visit the row is of.
std::pair<std::string, int> key_and_visit(const std::string& configuration);

/// Whether it is a kernel or a model, whose times can be unsteady.
bool is_of_computation(WorkKind kind);
/// Whether the time is as sure as it gets. A kernel in a model varies with its neighbours, too.
bool is_steady(const Protocol& protocol, const std::string& unreliable, double cv,
               std::optional<CacheState> cache);

/// Configurations by their last visit: what is unsteady is visited again.
using Unsteady = std::map<int, std::vector<Configuration>>;

struct Remaining {
  std::vector<Configuration> configurations;  ///< in the order given
  int finished = 0;                           ///< the others: measured before
  int retried = 0;                            ///< have failed before, and remain nevertheless
  Unsteady unsteady;                          ///< those that are finished, and unsteady
};

/// What remains of `all` in the campaign of this name. `retry_failed`: those that have failed remain, too.
Remaining remaining_of(const Store& store, const std::string& campaign, const Design& design,
                       std::vector<Configuration> all, bool retry_failed);

}  // namespace baton
