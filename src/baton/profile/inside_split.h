#pragma once
// From measured rounds to shares of a kernel's time: arithmetic only, no clock and no compiler.
#include <string>
#include <vector>

#include "baton/codegen/kernel.h"

namespace baton {

enum class InsideMethod { kWhole, kMarkers, kAblation };
const char* method_name(InsideMethod method);  ///< "whole", "markers", "ablation"
InsideMethod method_named(const std::string& name);  ///< Error for another name

/// One part of a kernel's time.
struct InsidePart {
  /// Indices into kernel_blocks(function): whose time it is. None: load, store and loop control alone.
  std::vector<int> blocks;
  bool rest = false;  ///< a stage less what ablation explained: load, store and loop control are in it
  std::string stage;  ///< "pad", "gemm", ...; for ablation, and for the rest: the stage that it is a part of
  double share = 0;   ///< of the plain kernel's time
  InsideMethod method = InsideMethod::kMarkers;
  bool below_noise = false;  ///< too little to be told from nothing: share is 0
};

struct InsideTimes {
  std::vector<InsidePart> parts;  ///< stages in the order of their operators; what shares a stage stands together
  double plain_us = 0;   ///< the kernel alone, warm, on one thread: median of all rounds
  double stage_sum = 1;  ///< what the stages sum up to, of the plain kernel; nothing is scaled to make it 1
  double noise = 0;      ///< of ablation: how far two equal builds differ, of the plain kernel
  double marker_ns = 0;  ///< the empty interval between two marks
  double overhead = 0;   ///< the marked kernel's time over the plain one's, less 1
  /// The stages sum up to 97-103 % of the plain kernel; else the shares are an estimate and shown as such.
  bool trusted() const { return stage_sum >= 0.97 && stage_sum <= 1.03; }
};

/// Every variant of a kernel once, one right after the other: what is compared was measured within a millisecond, so
/// that a drifting clock cancels.
struct InsideRound {
  double plain_us = 0, twin_us = 0, marked_us = 0;
  double empty_us = 0;                   ///< the empty interval, from the variant with doubled marks
  std::vector<double> site_us, visits;   ///< per site of `marks`: with the marks' own time
  std::vector<double> ablated_us;        ///< per group of `ablated`
};

/// A kernel that was measured.
struct InsideSubject {
  std::vector<KernelBlock> blocks;
  std::vector<MarkSite> marks;  ///< of the marked variant
  std::vector<std::vector<int>> ablated;  ///< blocks that were left out together, one variant each
};

/// The split. `rounds`: at least one.
InsideTimes split_inside(const InsideSubject& subject, const std::vector<InsideRound>& rounds);

/// The stage that the kernel's results are stored in. It is never merged.
bool is_root(const InsideSubject& subject, const MarkSite& site);

/// A site's own time per visit, the marks' time taken off: median of the rounds, microseconds.
double us_per_visit(const std::vector<InsideRound>& rounds, size_t site);

/// The empty interval: median of the rounds, microseconds.
double empty_interval_us(const std::vector<InsideRound>& rounds);

/// What is worth ablating: blocks without a stage of their own, for they live in the registers of the stage that consumes
/// them; and the last one, when it shares its stage with others. Only what can be left out with all types kept. Blocks of
/// one operator in one stage (the multiply and the add of a batch_norm) are left out together.
std::vector<std::vector<int>> ablatable(const InsideSubject& subject);

}  // namespace baton
