#include "baton/campaign/remaining.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace baton {

namespace {

constexpr char kVisit[] = "#";  // behind a configuration's key: the number of the second visit, or later

/// The last visit of a configuration by the rows of earlier sessions.
struct Visited {
  int visit = 0;
  bool unsteady = false, failed = false;
};

std::map<std::string, Visited> visited_before(const Store& store, const std::string& campaign,
                                              const Protocol& protocol) {
  std::map<std::string, Visited> all;
  StoreQuery query;
  query.campaign = campaign;
  for (const auto& row : store.table(query, {"configuration", "kind", "unreliable", "cv", "cache"}).rows) {
    const auto text = [&](size_t i) {
      const auto* value = std::get_if<std::string>(&row[i]);
      return value ? *value : std::string();
    };
    const auto [key, visit] = key_and_visit(text(0));
    Visited& last = all[key];
    if (visit < last.visit) continue;
    if (visit > last.visit) last = {visit, false, false};
    const std::string unreliable = text(2);
    last.failed |= unreliable.starts_with("failed: ");
    const auto kind = work_kind_named(text(1));
    if (!kind || !is_of_computation(*kind)) continue;
    const auto* cv = std::get_if<double>(&row[3]);
    last.unsteady |= !is_steady(protocol, unreliable, cv ? *cv : 0, cache_state_named(text(4)));
  }
  return all;
}

}  // namespace

std::string visit_suffix(int visit) { return visit == 1 ? "" : kVisit + std::to_string(visit); }

std::pair<std::string, int> key_and_visit(const std::string& configuration) {
  const size_t at = configuration.find(kVisit);
  if (at == std::string::npos) return {configuration, 1};
  return {configuration.substr(0, at), std::max(1, std::atoi(configuration.c_str() + at + 1))};
}

bool is_of_computation(WorkKind kind) { return kind == WorkKind::kKernel || kind == WorkKind::kModel; }

bool is_steady(const Protocol& protocol, const std::string& unreliable, double cv,
               std::optional<CacheState> cache) {
  return unreliable.empty() && (cv <= protocol.cv || cache == CacheState::kInModel);
}

Remaining remaining_of(const Store& store, const std::string& campaign, const Design& design,
                       std::vector<Configuration> all, bool retry_failed) {
  Remaining remaining;
  const std::vector<std::string> finished = store.finished(campaign);
  std::set<std::string> known(finished.begin(), finished.end());
  if (retry_failed) {
    std::set<std::string> failed;
    for (const std::string& key : store.failed(campaign))
      if (known.erase(key)) failed.insert(key);
    remaining.retried = static_cast<int>(
        std::ranges::count_if(all, [&](const Configuration& each) { return failed.contains(each.key); }));
  }
  std::map<std::string, Visited> before = visited_before(store, campaign, design.protocol);
  for (Configuration& each : all) {
    if (!known.contains(each.key)) {
      remaining.configurations.push_back(std::move(each));
      continue;
    }
    ++remaining.finished;
    const Visited& last = before[each.key];
    if (last.unsteady && !last.failed && last.visit < design.visits)
      remaining.unsteady[last.visit].push_back(std::move(each));
  }
  return remaining;
}

}  // namespace baton
