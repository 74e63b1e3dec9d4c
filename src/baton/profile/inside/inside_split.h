#pragma once
// From measured rounds to shares of a kernel's time: arithmetic only, no clock and no compiler.
#include <string>
#include <vector>

#include "baton/codegen/kernel/kernel.h"
#include "baton/profile/inside/inside_method.h"
#include "baton/profile/inside/inside_stages.h"

namespace baton {

/// One part of a kernel's time.
struct InsidePart {
  /// Indices into kernel_blocks(function): whose time it is; with `rest`, what sits in the stage's registers
  /// and could not be left out. None: load, store and loop control alone.
  std::vector<int> blocks;
  bool rest = false;  ///< a stage less what ablation explained: load, store and loop control are in it
  std::string stage;  ///< "pad", "gemm", ...; for ablation, and for the rest: the stage that it is a part of
  double share = 0;   ///< of the plain kernel's time
  InsideMethod method = InsideMethod::kMarkers;
  bool below_noise = false;  ///< too little to be told from nothing: share is 0
};

/// What became of the rounds that were measured.
struct RoundTally {
  size_t measured = 0;
  size_t stepped = 0;     ///< left out: the clock stepped
  size_t disturbed = 0;   ///< left out: one variant was held up
  bool restless = false;  ///< so many were disturbed that none was left out
};

/// A stage of a kernel that ran on several threads.
struct StageLoad {
  std::string stage;
  std::vector<int> blocks;  ///< its operator's, and those of what was merged into it
  double busy_us = 0;       ///< time spent in it, all threads added up
};

struct InsideTimes {
  std::vector<InsidePart>
      parts;             ///< stages in the order of their operators; what shares a stage stands together
  double plain_us = 0;   ///< the kernel alone, warm, on one thread: median of all rounds
  double stage_sum = 1;  ///< what the stages sum up to, of the plain kernel; nothing is scaled to make it 1
  double noise = 0;      ///< of ablation: how far two equal builds differ, of the plain kernel
  double marker_ns = 0;  ///< the empty interval between two marks
  double overhead = 0;   ///< the marked kernel's time over the plain one's, less 1
  double visit_us = 0;   ///< of all marked stages but the result's, the shortest visit; 0: there is none
  /// The stages sum up to 97-103 % of the plain kernel; else the shares are an estimate and shown as such.
  bool trusted() const { return stage_sum >= 0.97 && stage_sum <= 1.03; }
  RoundTally tally, threads_tally;
  std::string
      fallback;  ///< why stages were sampled, or could not be, or shares are of one thread only; else empty
  /// With more than one thread only: the kernel's time on them, and what its threads did of it.
  int threads = 1;
  double threads_us = 0;
  std::vector<StageLoad> loads;
  double busy_us() const;      ///< sum of all loads
  double utilisation() const;  ///< busy_us / (threads * threads_us); 1 for one thread
};

/// Every variant of a kernel once, one right after the other: what is compared was measured within a
/// millisecond, so that a drifting clock cancels.
struct InsideRound {
  double plain_us = 0, twin_us = 0, marked_us = 0, doubled_us = 0;  ///< 0: not measured
  double empty_us = 0;  ///< the empty interval, from the variant with doubled marks
  std::vector<double> site_us,
      visits;                      ///< per site of `marks`: with the marks' own time, all threads added up
  std::vector<double> ablated_us;  ///< per group of `ablated`
  bool clock_stepped = false;      ///< a mark found the clock before the one that preceded it
};

/// The split. `rounds`: at least one, screened.
InsideTimes split_inside(const InsideSubject& subject, const std::vector<InsideRound>& rounds);

/// A stage's share of the kernel, found by sampling.
struct SampledShare {
  std::string
      stage;  ///< empty: entry, exit and what else is no stage's; billed to where the results are stored
  int block = -1;
  double share = 0;
  std::vector<HeldStage> holds;  ///< what cannot be told from it
};

/// The same with stages from samples of the plain kernel; ablation as ever. `shares`: of 1; stages in the
/// order of operators.
InsideTimes split_sampled(InsideSubject subject, const std::vector<InsideRound>& rounds,
                          const std::vector<SampledShare>& shares);

/// Adds what `threads` threads did of the kernel. `rounds`: screened, of plain, marked and doubled variants
/// that ran on them.
void add_loads(InsideTimes& times, const InsideSubject& subject, const std::vector<InsideRound>& rounds,
               int threads);

/// Makes the parts' shares those of the threads' busy time, where loads were added for the same stages; what
/// ablation found keeps its portion of its stage. Says in `fallback` when they stay those of one thread.
void share_loads(InsideTimes& times);

/// What a reader of the split must know beside it, a sentence each: rounds that were left out, stages that
/// were sampled.
std::vector<std::string> notes_of(const InsideTimes& times);

/// A site's share of the plain kernel, the marks' time taken off: median of the rounds. The empty interval is
/// that of the round: it drifts with the clock, too.
double stage_share(const std::vector<InsideRound>& rounds, size_t site);

/// A site's own time per visit, the marks' time taken off: median of the rounds, microseconds.
double us_per_visit(const std::vector<InsideRound>& rounds, size_t site);

/// The empty interval: median of the rounds, microseconds.
double empty_interval_us(const std::vector<InsideRound>& rounds);

/// How well the shares are known: the largest standard error of them, of the plain kernel.
double uncertainty(const InsideSubject& subject, const std::vector<InsideRound>& rounds);

}  // namespace baton
