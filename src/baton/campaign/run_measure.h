#pragma once
// `baton measure`: what to measure, where, and into which store.
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "baton/campaign/campaign.h"
#include "baton/support/options/flags.h"

namespace baton {

struct MeasureCommand {
  std::vector<std::string> models;  ///< workload names or .relay files, measured whole and kernel by kernel
  Json design = Json::object();     ///< what the options are added to, or override; not with `design_file`
  std::string design_file, families, uncertainty, store, key;
  int variations = FamilyDesign().count;
  std::optional<int> patterns, opt_level, seed;
  std::vector<std::string> backends, caches;
  std::vector<int> threads;
  std::vector<int64_t> transfers;
  bool inside = false;
  std::optional<double> max_hours;
  CampaignOptions campaign;  ///< its name, and whether what failed is retried
  FarmOptions place = {.on = "local"};
  std::function<void(const CampaignProgress&)> progress;
  const std::atomic<bool>* interrupt = nullptr;

  void add(Flags& flags);
  std::string store_path() const;
};

/// Throws UsageError for what is unknown, missing or out of range.
Design measured_design(const MeasureCommand& command);

/// What run_measure() would measure.
CampaignPlan plan_measure(const MeasureCommand& command, const Design& design);

/// As run_campaign().
CampaignReport run_measure(const MeasureCommand& command);

}  // namespace baton
