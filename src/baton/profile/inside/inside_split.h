#pragma once
// Computes shares of a kernel's time from measured rounds: arithmetic only, no clock and no compiler.
#include <optional>
#include <string>
#include <vector>

#include "baton/codegen/kernel/kernel.h"
#include "baton/profile/inside/inside_method.h"
#include "baton/profile/inside/inside_stages.h"

namespace baton {

/// One part of a kernel's time.
struct InsidePart {
  /// Indices into kernel_blocks(function) of the operators it belongs to; with `rest`, those in the stage's
  /// registers that could not be ablated. Empty: load, store and loop control only.
  std::vector<int> blocks;
  bool rest = false;  ///< a stage minus what ablation explained; includes load, store and loop control
  std::string stage;  ///< "pad", "gemm", ...; for ablation, and for the rest: the stage that it is a part of
  double share = 0;   ///< fraction of the plain kernel's time
  InsideMethod method = InsideMethod::kMarkers;
  bool below_noise = false;  ///< too small to measure: share is 0
  double cost = 0;           ///< of ablation: the measured difference, before it is compared with the noise
  /// Half of the share's 95 % interval, from several rounds; below the noise: the most that it can be.
  std::optional<double> plus_minus = {};
  /// For a primitive of a library's region, as the library names it; for a change of layout, what needs it.
  std::string implementation = {}, layouts = {}, reason = {};
};

/// InsidePart::reason of a reshape in the loop of another operator.
inline constexpr const char* kMovesNothing = "moves no data";

/// Counts of measured and discarded rounds.
struct RoundTally {
  size_t measured = 0;
  size_t stepped = 0;     ///< discarded: the clock stepped
  size_t disturbed = 0;   ///< discarded: one variant was delayed
  bool restless = false;  ///< too many were disturbed, so none was discarded
};

/// A stage's load in a run with several threads.
struct StageLoad {
  std::string stage;
  std::vector<int> blocks;  ///< its operator, and those merged into it
  double busy_us = 0;       ///< time spent in it, summed over all threads
};

struct InsideTimes {
  std::vector<InsidePart> parts;  ///< stages in the order of their operators; parts of one stage are adjacent
  double plain_us = 0;            ///< the kernel alone, warm, on one thread: median of all rounds
  double stage_sum = 1;  ///< the sum of all stages as a fraction of the plain kernel; not normalised to 1
  double noise = 0;  ///< of ablation: difference between two equal builds, as a fraction of the plain kernel
  double marker_ns = 0;               ///< the empty interval between two marks
  double overhead = 0;                ///< marked kernel's time / plain kernel's time - 1
  std::optional<uint32_t> node = {};  ///< the plan node it was measured at; equal kernels share it
  size_t rounds = 1;                  ///< each in other memory
  std::string under_load = {};        ///< what ran beside most rounds; empty: little
  double visit_us = 0;                ///< the shortest visit of all marked stages but the result's; 0: none
  /// Whether the stages sum up to 97-103 % of the plain kernel; otherwise the shares are shown as estimates.
  bool trusted() const { return stage_sum >= 0.97 && stage_sum <= 1.03; }
  RoundTally tally, threads_tally;
  std::string
      fallback;  ///< why stages were sampled, could not be, or shares are of one thread only; else empty
  /// Only with more than one thread: the kernel's time on them, and their loads.
  int threads = 1;
  double threads_us = 0;
  std::vector<StageLoad> loads;
  double busy_us() const;      ///< sum of all loads
  double utilisation() const;  ///< busy_us / (threads * threads_us); 1 for one thread
};

/// One run of every variant of a kernel, back to back: they are compared within a millisecond, so that clock
/// drift cancels.
struct InsideRound {
  double plain_us = 0, twin_us = 0, marked_us = 0, doubled_us = 0;  ///< 0: not measured
  double empty_us = 0;  ///< the empty interval, from the variant with doubled marks
  std::vector<double> site_us,
      visits;  ///< per site of `marks`: including the marks' own time, summed over all threads
  std::vector<double> ablated_us;  ///< per group of `ablated`
  bool clock_stepped = false;      ///< the clock went backwards between two marks
  bool held = false;               ///< another program took the CPU during one of the runs
};

/// Computes the split. `rounds`: at least one, screened.
InsideTimes split_inside(const InsideSubject& subject, const std::vector<InsideRound>& rounds);

/// A stage's share of the kernel, from sampling.
struct SampledShare {
  std::string stage;  ///< empty: code outside all stages, such as entry and exit; attributed to where the
                      ///< results are stored
  int block = -1;
  double share = 0;
  std::vector<HeldStage> holds;  ///< stages that cannot be separated from it
};

/// The same with stage shares from samples of the plain kernel; ablation is unchanged. `shares`: fractions of
/// 1, in the order of operators.
InsideTimes split_sampled(InsideSubject subject, const std::vector<InsideRound>& rounds,
                          const std::vector<SampledShare>& shares);

/// Adds per-thread loads of the kernel. `rounds`: screened, of plain, marked and doubled variants on that
/// many threads.
void add_loads(InsideTimes& times, const InsideSubject& subject, const std::vector<InsideRound>& rounds,
               int threads);

/// Replaces the parts' shares by shares of the threads' busy time, where loads were added for the same
/// stages; ablated parts keep their fraction of their stage. Sets `fallback` when the shares of one thread
/// are kept.
void share_loads(InsideTimes& times);

/// Caveats for readers of the split, one sentence each: discarded rounds, sampled stages.
std::vector<std::string> notes_of(const InsideTimes& times);

/// A site's share of the plain kernel, without the marks' time: median of the rounds. Uses each round's own
/// empty interval, which drifts with the clock too.
double stage_share(const std::vector<InsideRound>& rounds, size_t site);

/// A site's own time per visit, without the marks' time: median of the rounds, microseconds.
double us_per_visit(const std::vector<InsideRound>& rounds, size_t site);

/// The empty interval: median of the rounds, microseconds.
double empty_interval_us(const std::vector<InsideRound>& rounds);

/// The largest standard error of the shares, as a fraction of the plain kernel.
double uncertainty(const std::vector<InsideRound>& rounds);

}  // namespace baton
