#include "baton/campaign/result_checks.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "baton/campaign/rows.h"
#include "baton/clock/estimate.h"
#include "baton/predict/roofline_base.h"

namespace baton {

namespace {

// Of 9,806 reliable rows of two machines none took less than 0.30 times what its operations and bytes take at
// the sheet's peak and cache rates (Winograd's algorithm multiplies less), and two of those above 100 us more
// than 7.0 times what they take at the peak and memory rates.
constexpr double kLeastOfRoof = 0.1, kMostOfRoof = 10, kMostBeyondUs = 100;
// The reference kernel took 1.0 and 1.2 times what their sheets let expect.
constexpr double kMostSlowness = 10;
// In sums medians of groups stand for samples, which are hardly ever shorter.
constexpr double kMostOfElapsed = 1.1, kElapsedSlackS = 0.5;
// Medians of shorter ones may be alike by clocks that step by 10 ns (Zen 5) or 42 ns (the counter of Arm). Of
// the same rows none were, from 1 us on.
constexpr double kToldApartUs = 100;
constexpr size_t kFewestAlike = 6;
// Of a whole run over the sum of its kernels: 0.95 to 1.05 for 99 of 100 models.
constexpr double kLeastOfSum = 0.5, kMostOfSum = 3;

std::string number(const char* form, double value) {
  char text[60];
  std::snprintf(text, sizeof text, form, value);
  return text;
}

std::string microseconds(double us) { return number("%.4g us", us); }

bool is_simulated(const Plan& plan) {
  for (uint32_t node = 0; node < plan.nodes.size(); ++node)
    if (plan.is_simulated(node)) return true;
  return false;
}

/// Other devices have queues, in which a whole run waits less than its nodes do one by one.
bool is_of_processor(const Plan& plan) {
  return std::ranges::all_of(plan.entries, [](const PlanEntry& entry) { return entry.device_type == 1; });
}

/// What the plan calls has a row, each once.
std::string why_incomplete(const JobResult& result, const ResultFacts& facts) {
  std::set<std::string> nodes;
  std::set<std::pair<std::string, CacheState>> seen;
  for (const JobRow& row : result.rows) {
    nodes.insert(row.node);
    if (!seen.insert({row.node, row.cache}).second)
      return "there are two rows of `" + row.node + "`, " + std::string(cache_state_name(row.cache));
  }
  const Protocol& protocol = facts.job->protocol;
  if (!protocol.alone)
    for (const CacheState cache : protocol.caches)
      if (!seen.contains({"", cache}))
        return "there is no row of the whole program, " + std::string(cache_state_name(cache));
  if (!protocol.nodes && !protocol.alone) return "";
  size_t called = 0;
  std::string missing;
  size_t count = 0;
  for (const PlanNode& node : facts.plan->nodes) {
    if (node.kind != PlanNode::Kind::kKernel && node.kind != PlanNode::Kind::kCopy) continue;
    ++called;
    if (nodes.contains(node.name)) continue;
    ++count;
    if (missing.empty()) missing = node.name;
  }
  if (count == 0) return "";
  return "rows of " + std::to_string(count) + " of its " + std::to_string(called) + " nodes are missing: `" +
         missing + (count > 1 ? "`, ..." : "`");
}

/// Samples cannot take longer than the job did.
std::string why_too_long(const JobResult& result, const ResultFacts& facts) {
  double sum_s = 0;
  for (const JobRow& row : result.rows)
    for (const double us : samples_without(row.samples_us, row.disturbed))
      sum_s += us * row.calls_per_sample / 1e6;
  if (sum_s <= kMostOfElapsed * facts.elapsed_s + kElapsedSlackS) return "";
  return "its samples sum up to " + number("%.3g s", sum_s) + ", and the job took " +
         number("%.3g s", facts.elapsed_s);
}

std::string why_impossible_samples(const Measurement& row) {
  const std::vector<double> kept = samples_without(row.samples_us, row.disturbed);
  if (kept.empty()) return "there is no sample that counts";
  if (std::ranges::min(kept) <= 0) return "a sample of 0 us";
  if (kept.size() >= kFewestAlike && kept.front() >= kToldApartUs &&
      std::ranges::all_of(kept, [&](double us) { return us == kept.front(); }))
    return "all " + std::to_string(kept.size()) + " samples are " + microseconds(kept.front()) +
           ", which no clock reads";
  return "";
}

/// What a kernel takes at the sheet's rates. A whole model's work is that of before optimisation.
struct Roof {
  double least_us = 0, most_us = 0;  ///< 0: not known
};

Roof roof_of(const Measurement& row) {
  const bool is_kernel = row.work.kind == WorkKind::kKernel || row.work.kind == WorkKind::kReference;
  if (!is_kernel || (row.device.device_type != 1 && !row.device.peaks)) return {};
  const SheetRates rates = sheet_rates(row.device, row.threads);
  const double compute_us = row.work.flops / rates.gflops / 1e3;
  return {std::max(compute_us, row.work.bytes / rates.cache_gbytes / 1e3),
          compute_us + row.work.bytes / rates.memory_gbytes / 1e3};
}

std::string why_below_roof(const Measurement& row) {
  const double least_us = kLeastOfRoof * roof_of(row).least_us;
  if (row.median_us >= least_us) return "";
  return microseconds(row.median_us) + " for " + number("%.3g", row.work.flops / 1e6) +
         " million operations and " + number("%.3g", row.work.bytes / 1e6) + " MB, which take " +
         microseconds(least_us) + " at ten times its device's rates";
}

std::string why_unlikely(const Measurement& row, double slowness) {
  const double usual_us = slowness * roof_of(row).most_us;
  if (usual_us <= 0 || row.median_us <= kMostOfRoof * usual_us + kMostBeyondUs) return "";
  return microseconds(row.median_us) + ", " + number("%.0f", row.median_us / usual_us) +
         " times what its operations and bytes take at the rates of its device";
}

/// A whole run takes what its kernels take.
std::string why_not_its_sum(std::span<const Measurement> rows) {
  double whole_us = 0, sum_us = 0;
  for (const Measurement& row : rows) {
    if (row.work.kind == WorkKind::kModel && row.cache == CacheState::kHot) whole_us = row.median_us;
    if (row.work.kind == WorkKind::kKernel || row.work.kind == WorkKind::kTransfer) sum_us += row.median_us;
  }
  if (whole_us <= 0 || sum_us <= 0 ||
      (whole_us >= kLeastOfSum * sum_us && whole_us <= kMostOfSum * sum_us + kMostBeyondUs))
    return "";
  return "the whole program takes " + microseconds(whole_us) + ", and its nodes take " + microseconds(sum_us);
}

std::string of_row(const Measurement& row, const std::string& why) { return row.work.brief + ": " + why; }

}  // namespace

void KnownMachines::add(const std::vector<WorkerMachine>& machines) {
  for (const WorkerMachine& each : machines) {
    sheets_[each.name] = each.sheet;
    any_unnamed_ = any_unnamed_ || each.name.empty();
  }
}

std::string KnownMachines::why_not(const Job& job, const JobResult& result) const {
  if (!job.machine.empty() && result.machine != job.machine)
    return "it says that it is of " + result.machine + ", and the job was for " + job.machine;
  if (any_unnamed_) return "";
  const auto at = sheets_.find(result.machine);
  if (at == sheets_.end())
    return "it says that it is of " + result.machine + ", which is no machine of these";
  if (sheet_identity(at->second) != sheet_identity(result.device))
    return "it says that it is of " + result.machine + ", with another device than that machine greeted with";
  return "";
}

ResultDoubt doubt_of(const JobResult& result, std::span<const Measurement> rows, const ResultFacts& facts) {
  if (std::string why = why_incomplete(result, facts); !why.empty()) return {std::move(why), true};
  const auto is_exact = [](const Measurement& row) { return !row.simulated.empty(); };
  for (const Measurement& row : rows) {
    if (is_exact(row)) continue;
    if (const std::string why = why_impossible_samples(row); !why.empty()) return {of_row(row, why), true};
    if (const std::string why = why_below_roof(row); !why.empty()) return {of_row(row, why), true};
  }
  if (!is_simulated(*facts.plan))
    if (std::string why = why_too_long(result, facts); !why.empty()) return {std::move(why), true};
  for (const Measurement& row : rows)
    if (const std::string why = is_exact(row) ? "" : why_unlikely(row, facts.slowness); !why.empty())
      return {of_row(row, why)};
  if (is_of_processor(*facts.plan)) return {why_not_its_sum(rows)};
  return {};
}

double slowness_of(const Measurement& reference) {
  const double usual_us = roof_of(reference).most_us;
  return usual_us > 0 ? std::max(1.0, reference.median_us / usual_us) : 1;
}

std::string why_other_device(const Measurement& reference) {
  const double slowness = slowness_of(reference);
  if (slowness <= kMostSlowness) return "";
  return microseconds(reference.median_us) + " are " + number("%.0f", slowness) +
         " times what the sheet of its device lets expect";
}

bool agree(const JobResult& first, const JobResult& second) {
  constexpr double kAlike = 1.5;
  std::map<std::pair<std::string, CacheState>, double> times;
  for (const JobRow& row : first.rows)
    times[{row.node, row.cache}] = median(samples_without(row.samples_us, row.disturbed));
  return first.rows.size() == second.rows.size() && std::ranges::all_of(second.rows, [&](const JobRow& row) {
           const auto at = times.find({row.node, row.cache});
           if (at == times.end()) return false;
           const double us = median(samples_without(row.samples_us, row.disturbed));
           return us <= kAlike * at->second && at->second <= kAlike * us;
         });
}

}  // namespace baton
