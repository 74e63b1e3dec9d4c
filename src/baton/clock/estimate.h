#pragma once
// A time from several rounds of samples: arithmetic only, no clock. Rounds differ in what differs between
// processes (addresses of buffers and code, time), so that their spread says what another process would
// measure.
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "baton/support/base/statistics.h"

namespace baton {

/// Standard deviation over mean; 0 for fewer than two values.
double coefficient_of_variation(const std::vector<double>& values);

struct Sample {
  double us = 0;
  bool held = false;       ///< another program took the processor meanwhile
  bool slow = false;       ///< on a core that was slower than usual
  double computed_us = 0;  ///< of a held one: how long it would have taken otherwise; 0: not known
  double core_ns = 0;      ///< the core's loop after it (core_pace.h); 0: not read
};

/// The samples of one quantity in one round.
struct RoundSamples {
  std::vector<double> us;
  std::vector<bool> disturbed;   ///< per sample: it does not count where others do
  std::vector<bool> held, slow;  ///< per sample, as what follows: as in Sample
  std::vector<double> computed_us;
  std::vector<double> core_ns;

  void add(const Sample& sample) {
    us.push_back(sample.us);
    disturbed.push_back(sample.held);
    held.push_back(sample.held);
    slow.push_back(sample.slow);
    computed_us.push_back(sample.computed_us);
    core_ns.push_back(sample.core_ns);
  }
  void add(double value, bool was_held) { add({value, was_held}); }
};

/// Fewer rounds have no interval.
inline constexpr size_t kFewestRounds = 3;
/// Processes differ by this part of a time at least, whatever the rounds of each say.
inline constexpr double kBetweenProcesses = 0.01;
/// Samples of one process do not show by how much: buffers lie in one place in all of them. Models that were
/// measured three times in ten minutes differed by 1.1 % (median, note 0038), which is 3 % in 95 of 100
/// cases.
inline constexpr double kOneProcess = 0.03;
/// Beside other programs caches and memory are shared: a time differs by this part from that of a quiet
/// machine at least, of samples that nothing interrupted, and of those from which the interruptions were
/// subtracted.
inline constexpr double kBesideOthers = 0.08, kInterrupted = 0.1;
/// The variance of the median of a few normally distributed values over that of their mean: pi / 2 for many.
inline constexpr double kMedianVariance = 1.4;

struct Estimate {
  double us = 0;  ///< median of the rounds' medians; `under_load` the time of the least disturbed samples
  /// Half of the 95 % interval: in 95 of 100 cases the same measurement by another process is this close.
  /// nullopt: fewer than three rounds.
  std::optional<double> plus_minus_us;
  std::vector<double> rounds_us;     ///< of each round
  std::vector<double> samples_us;    ///< those of all rounds that count, in order
  size_t left_out = 0;               ///< the others
  std::vector<double> disturbed_us;  ///< these, as they were measured; none of them `under_load`
  /// Time of the loop that fills the core when the samples that count were taken: core_ns_of(). 0: not read.
  double core_ns = 0;
  std::string under_load;    ///< what disturbed nearly all samples, so that +- is wider; empty: few were
  bool interrupted = false;  ///< and that none of them was left alone: interruptions are subtracted
};

/// Those that are not disturbed, in order.
std::vector<double> kept_of(const RoundSamples& samples);

/// When there are enough samples. A campaign wants them alike; a profile's rounds tell how far they differ.
struct Wanted {
  size_t samples = 30;                                  ///< undisturbed ones
  double cv = std::numeric_limits<double>::infinity();  ///< of grouped() ones
};
/// Whether there are; none of them on a slow core.
bool enough(const std::vector<RoundSamples>& rounds, const Wanted& wanted);

/// At most some sixty values instead of many: medians of equal groups, which are larger where single samples
/// vary too much. The second: how many samples are a group.
std::pair<std::vector<double>, size_t> grouped(const std::vector<double>& kept, const Wanted& wanted);
inline constexpr size_t kMostGroups = 64;

/// Undisturbed samples on a core at its usual speed, where at least five of these are left, from at least
/// three rounds (as many as there are, if fewer were taken): the others are marked as disturbed. Else slow
/// ones count.
void leave_out_slow(std::vector<RoundSamples>& rounds);

/// Undisturbed samples only. When fewer than five are left (or half of them, if fewer were taken), or those
/// of fewer than three rounds, other programs ran all the time: `under_load` is `why`, and those samples
/// count that nothing interrupted, if there are five of these; else all, less the time of the interruptions
/// where it is known. Of them least_disturbed_us(), and apart_from_quiet(). `contending`: as there.
Estimate estimate(const std::vector<RoundSamples>& rounds, const std::string& why, int contending = 1);

/// The same of samples of one process, in the order in which they were taken: eight groups of them stand for
/// rounds, and kOneProcess is added for what they cannot show. Fewer than three groups of two: no interval.
Estimate estimate_of_one_process(const std::vector<double>& samples_us);

/// The mean of the middle half of the readings after samples that count, or of all where none does: the
/// clock's steps are a part of a reading, and interrupts are among them. 0: nothing was read.
double core_ns_of(const std::vector<RoundSamples>& rounds);

/// How many of a program's threads must take turns with other programs, which use `others` of the
/// `processors`: all of them, or 1 where there is room for all.
int contending_threads(int threads, double others, int processors);

/// The least disturbed kind of samples of which there are enough, by round:
/// nothing interrupted them, on a core at its usual speed or a slower one; else all, the interruptions
/// subtracted where they are known.
struct LeastDisturbed {
  std::vector<std::vector<double>> rounds;
  bool interrupted = false;  ///< the last kind
};
LeastDisturbed least_disturbed(const std::vector<RoundSamples>& rounds);

/// Half of the interval within which the time on a quiet machine lies, by samples beside other programs of
/// which the least disturbed take `us`: as far as the middle of the samples reaches from there, and up to
/// half of `us`. (On several threads most may be those of a thread that was away.) Where `contending` threads
/// take turns with others, all may be: the work was then done by one of them.
double apart_from_quiet(const std::vector<double>& samples, double us, bool interrupted, int contending = 1);

/// What samples take that are not disturbed: the median of those that are at most 25 % above the fastest
/// twentieth. That is as far as samples lie apart on a quiet machine, where the median counts, too; on
/// several threads of which one was away they take half as much again or more. 0 for none.
double least_disturbed_us(std::vector<double> us);

/// The quantile of Student's t distribution that leaves 5 % outside both ends; infinity for no degrees.
double student_95(double degrees);
/// The same for any probability outside, 0 < p < 1.
double student_quantile(double p, double degrees);
/// The probability that a t-distributed value lies farther from 0 than `t`.
double student_outside(double t, double degrees);

/// Half of the 95 % interval for the value of another process with as many rounds; nullopt for fewer than
/// three.
std::optional<double> rounds_interval(const std::vector<double>& rounds);

/// Indices of what lies farther than five robust deviations from the median, and farther than a hundredth of
/// it; none of fewer than five values.
std::vector<uint32_t> outliers_of(const std::vector<double>& values);

/// Standard deviation of a sample; 0 for fewer than two values.
double standard_deviation(const std::vector<double>& values);

}  // namespace baton
