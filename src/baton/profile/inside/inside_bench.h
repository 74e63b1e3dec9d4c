#pragma once
// Measures the variants of one kernel in turn, in its model's memory. For .cc files of this folder only.
#include <set>
#include <span>
#include <string>
#include <vector>

#include "baton/clock/sample_clock.h"
#include "baton/profile/inside/inside_options.h"
#include "baton/profile/inside/inside_sampled.h"
#include "baton/profile/inside/inside_variants.h"

namespace baton {

/// How a kernel is split: decided once, kept in the kernel cache, and changed only when clearly wrong, so
/// that the method of a part does not differ between profiles of one build.
struct SplitPlan {
  bool within = true;            ///< also mark the result's own stages
  bool sampled = false;          ///< stages by sampling
  std::set<std::string> merged;  ///< stages that are not marked

  std::string text() const;
  /// nullopt for a damaged text.
  static std::optional<SplitPlan> from_text(const std::string& text);
  friend bool operator==(const SplitPlan&, const SplitPlan&) = default;
};

class InsideBench {
 public:
  InsideBench(MeasuredKernel& kernel, const InsideOptions& options);

  /// Takes how the kernel is split from the cache, if it is there. True: its marked variants are to be
  /// rebuilt.
  bool adopt_kept_plan();

  /// One round of about `ms` milliseconds. The first one decides how the kernel is split, unless a kept plan
  /// was adopted.
  InsideTimes round(std::span<void*> args, double ms);

 private:
  enum : int { kUndecided, kDecided };
  /// Which variants a round calls.
  enum class Calls {
    kAll,
    kUnmarked,  ///< for a kernel whose stages are sampled
    kLoads,     ///< the plain and the marked ones
  };

  void decide(InsideTimes& times);
  std::optional<SplitPlan> kept_plan() const;
  void keep_plan() const;
  KernelKey plan_key() const;
  InsideTimes split_stages();
  void sample(InsideTimes& times);
  InsideTimes sample_again();
  InsideTimes split_by(const std::vector<SampledShare>& shares) const;
  InsideTimes with_marks(int attempts);
  bool has_inner() const;
  InsideTimes split(const std::vector<InsideRound>& measured) const;
  double timed_call(size_t variant, bool marked, InsideRound& round);
  double marked_call(size_t variant, InsideRound& round);
  InsideRound one_round(size_t first, Calls calls);
  std::vector<InsideRound> rounds(double budget_ms, Calls calls = Calls::kAll, int threads = 1);
  bool disturbs(const std::vector<InsideRound>& measured, size_t site) const;
  std::set<std::string> too_short(const std::vector<InsideRound>& measured) const;
  std::string shortest(const std::vector<InsideRound>& measured) const;
  bool asked_to_stop() const;
  void mark_anew();

  MeasuredKernel& kernel_;
  std::span<void*> args_;
  const InsideOptions& options_;
  SampleClock clock_;
  double ms_ = 0;
  int state_ = kUndecided;
  bool sampled_ = false;
  bool loaded_ = false;            // loads of threads were measured
  bool adopted_ = false;           // the plan is from the cache, and not yet confirmed by a round
  RoundTally tally_;               // of the last rounds() call
  std::vector<InsideRound> last_;  // on one thread
  double marked_sum_ = 0;          // sum of stages that were not trusted at first; 0: trusted
  bool lost_ = false;              // some stages are not marked, since marks disturb them
};

}  // namespace baton
