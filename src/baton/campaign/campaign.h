#pragma once
// A campaign: measures what a design names, row by row into a store, and goes on where it ended.
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "baton/campaign/make_worker.h"
#include "baton/campaign/rows.h"
#include "baton/clock/disturbance.h"
#include "baton/store/store.h"

namespace baton {

struct CampaignProgress {
  std::string phase;        ///< "building", "measuring", "measuring again", "waiting: ..."
  int done = 0, total = 0;  ///< of the design, or, "again", of those that are visited again
  double per_hour = 0;      ///< configurations, of this session; 0: not known
  std::optional<double> seconds_left;
};

struct CampaignOptions {
  std::string name = "default";
  double max_seconds = 1e9;
  double wait_s = 60;       ///< for other programs to leave the machine alone
  double reference_s = 60;  ///< from one reference run to the next
  double drift = 0.05;  ///< of the reference kernel, from which on rows are marked; more where more is usual
  int batch = 24;       ///< programs that are built before they are measured
  bool retry_failed = false;              ///< configurations that have failed before, too
  BuildContext context;                   ///< of the builds; its interrupt ends the campaign
  std::optional<DeviceSheet> sheet = {};  ///< of this machine, with its rates; none: they are measured
  std::function<void(const CampaignProgress&)> progress = {};
  SystemSource system = read_system;
};

/// A configuration without times.
struct CampaignFailure {
  std::string key, name, backend, why;
};

struct CampaignReport {
  std::string name;
  int configurations = 0;   ///< of the design
  int finished_before = 0;  ///< of these
  int retried = 0;          ///< of these: had failed before, and were not left out
  int measured = 0, failed = 0, revisited = 0;
  int64_t rows = 0;         ///< new ones in the store
  int64_t timed_rows = 0;   ///< of kernels and models, reliable
  int64_t steady_rows = 0;  ///< of these with a coefficient of variation within the protocol's
  double seconds = 0, build_s = 0, measure_s = 0, wait_s = 0;
  std::vector<CampaignFailure> failures;
  /// The median of all, of the machine that answered last; the largest relative difference from a machine's.
  double reference_us = 0, drift = 0;
  std::vector<std::string> notes;
  std::string partial;  ///< why configurations are missing: "interrupted", "time"; empty: none are
  double per_hour() const { return seconds > 0 ? (measured + failed) * 3600.0 / seconds : 0; }
};

/// What a campaign would measure.
struct CampaignPlan {
  std::vector<Subject> subjects;
  std::vector<Configuration> configurations;  ///< in order; those of one build behind each other
};
/// Shuffled by the design's seed.
CampaignPlan plan_campaign(const Design& design, const BuildContext& context);

/// Each configuration's rows are committed when they arrive, so that a kill loses those in flight;
/// `store`'s finished configurations of this campaign are not measured again. Throws Error when the
/// store cannot be written, or when the worker's service is gone.
CampaignReport run_campaign(Store& store, const Design& design, const CampaignWorker& worker,
                            const CampaignOptions& options);
/// The same with programs of the caller's choice, in their order. `design`: how they are built and measured.
CampaignReport run_campaign(Store& store, const Design& design, CampaignPlan plan,
                            const CampaignWorker& worker, const CampaignOptions& options);

/// What a store has of one campaign.
struct CampaignStatus {
  std::string name;
  int64_t rows = 0, references = 0;
  size_t configurations = 0, failed = 0;   ///< with times; without
  std::map<std::string, int64_t> rows_of;  ///< by kind of work and backend: "kernel dnnl"
};
CampaignStatus campaign_status(const Store& store, const std::string& name);

Json campaign_json(const CampaignReport& report);
Json campaign_json(const CampaignStatus& status);

}  // namespace baton
