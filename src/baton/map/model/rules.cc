#include "baton/map/model/rules.h"

#include <algorithm>
#include <map>

#include "baton/support/error.h"
#include "baton/text/origin_label.h"

namespace baton {

void check_rules(const std::vector<MapRule>& rules, const std::vector<std::string>& backends,
                 const OriginTable& table) {
  std::map<uint32_t, const MapRule*> pinned;
  std::map<uint32_t, std::vector<const MapRule*>> forbidden;
  const auto label = [&](uint32_t id) { return origin_label(table.at(OriginId(id))); };
  for (const MapRule& rule : rules) {
    if (std::ranges::count(backends, rule.backend) == 0)
      throw UsageError(rule.text + ": " + rule.backend +
                       " is not among the targets of this mapping (--targets)");
    for (const uint32_t id : rule.operators) {
      if (rule.forbids) {
        forbidden[id].push_back(&rule);
        continue;
      }
      const auto [known, fresh] = pinned.emplace(id, &rule);
      if (!fresh && known->second->backend != rule.backend)
        throw UsageError(rule.text + " contradicts " + known->second->text + ": both name " + label(id));
    }
  }
  for (const auto& [id, bans] : forbidden) {
    const auto pin = pinned.find(id);
    size_t left = backends.size();
    for (const std::string& backend : backends)
      for (const MapRule* ban : bans)
        if (ban->backend == backend) {
          if (pin != pinned.end() && pin->second->backend == backend)
            throw UsageError(ban->text + " contradicts " + pin->second->text + ": both name " + label(id));
          --left;
          break;
        }
    if (left == 0) throw UsageError(bans.back()->text + " leaves no backend for " + label(id));
  }
}

std::string no_mapping_text(const std::vector<MapRule>& rules, const ModelPrices& prices) {
  std::string kept;
  for (size_t d = 1; d < prices.devices.size(); ++d)
    if (prices.memory_limits[d] > 0)
      kept += (kept.empty() ? ": " : ", ") + prices.devices[d] + " has " +
              std::to_string(static_cast<int64_t>(prices.memory_limits[d])) + " bytes";
  for (const MapRule& rule : rules) kept += (kept.empty() ? ": " : ", ") + rule.text;
  return "no mapping keeps all limits and rules" + kept +
         "; give a device more memory (--memory), allow more regions, or fewer rules";
}

void restrict_to_rules(const std::vector<MapRule>& rules, const std::vector<std::string>& backends,
                       std::vector<int>& backend_of) {
  for (const MapRule& rule : rules) {
    const auto named = static_cast<int>(std::ranges::find(backends, rule.backend) - backends.begin());
    for (const uint32_t id : rule.operators) {
      if (!rule.forbids) backend_of[id] = named;
      if (rule.forbids && backend_of[id] == named) backend_of[id] = 0;
    }
  }
}

bool allows(const std::vector<MapRule>& rules, const std::string& backend, uint32_t id) {
  return std::ranges::none_of(rules, [&](const MapRule& rule) {
    return std::ranges::binary_search(rule.operators, id) && (rule.backend == backend) == rule.forbids;
  });
}

std::vector<std::set<uint32_t>> regions_of(const std::vector<int>& backend_of, const OriginReport& origins) {
  std::vector<int> region(backend_of.size(), -1);
  std::vector<std::set<uint32_t>> regions;
  for (uint32_t id = 0; id < backend_of.size(); ++id) {
    if (backend_of[id] <= 0) continue;
    for (const uint32_t input : origins.operators[id].inputs)
      if (backend_of[input] == backend_of[id] && region[id] < 0) region[id] = region[input];
    if (region[id] < 0) {
      region[id] = static_cast<int>(regions.size());
      regions.emplace_back();
    }
    regions[static_cast<size_t>(region[id])].insert(id);
  }
  return regions;
}

}  // namespace baton
