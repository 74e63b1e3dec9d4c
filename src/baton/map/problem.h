#pragma once
// The mapping problem as plain values: which candidate computes each operator, and in which format each value
// travels. See docs/design/0040.
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace baton {

/// How a value lies in memory: on which device, in which layout.
struct MappingFormat {
  std::string name;  ///< "cpu", "opencl", "cpu NCHW16c"
  int device = 0;    ///< index into MappingProblem::memory_limits
};

/// The price of bringing a value from one format into another.
struct MappingConversion {
  double fixed_us = 0, us_per_byte = 0;
};

/// A tensor that is produced by one node, or given, and consumed by others.
struct MappingValue {
  int producer = -1;                ///< node; -1: given to the model
  std::vector<int> consumers = {};  ///< nodes, ascending
  double bytes = 0;
  int given = -1;                  ///< the format of a given value
  std::vector<int> required = {};  ///< formats in which the model must return it
};

/// One way to compute some nodes: a kernel or a region on one backend.
struct MappingCandidate {
  std::vector<int> nodes;  ///< ascending
  double us = 0;           ///< of one run, without conversions
  double memory = 0;       ///< bytes of the device's memory that it occupies (weights)
  int device = 0;
  /// The format of every value that enters and leaves, in the order of MappingIndex::values_of().
  std::vector<int> input_formats = {}, output_formats = {};
  std::string label = {};
};

/// Nodes are numbered so that every producer is below its consumers.
struct MappingProblem {
  int nodes = 0;
  std::vector<MappingValue> values;
  std::vector<MappingCandidate> candidates;
  std::vector<MappingFormat> formats;
  /// [from][to]; nullopt: there is no direct way.
  std::vector<std::vector<std::optional<MappingConversion>>> conversions;
  std::vector<double> memory_limits;  ///< bytes per device; 0: none
  int max_candidates = 0;             ///< how many kernels and regions at most; 0: any number
  /// The share of the time that queues side by side could save, and really do: 0 to 1. Less than 1 where
  /// devices share caches, memory or cores.
  double overlap = 1;

  double conversion_us(int value, int from, int to) const;  ///< infinity where there is no direct way
};

/// The values that enter a candidate (each once, ascending) and those it produces that others, or the caller
/// of the model, use.
struct CandidateValues {
  std::vector<int> inputs, outputs;
};

/// Which values each node reads and writes.
class MappingIndex {
 public:
  explicit MappingIndex(const MappingProblem& problem);
  CandidateValues values_of(const std::vector<int>& nodes) const;
  const std::vector<int>& reads(int node) const { return reads_[static_cast<size_t>(node)]; }
  const std::vector<int>& writes(int node) const { return writes_[static_cast<size_t>(node)]; }

 private:
  const MappingProblem& problem_;
  std::vector<std::vector<int>> reads_, writes_;
};

/// Throws Error, naming the part, for indices out of range, times that are negative or not finite, formats
/// that do not match the values, a value consumed before it is produced, and nodes without a candidate.
void check(const MappingProblem& problem);

struct MappingStep {
  int value = 0, from = 0, to = 0;  ///< formats
  friend bool operator==(const MappingStep&, const MappingStep&) = default;
};

struct MappingSolution {
  std::vector<int> chosen;         ///< candidates, in an order in which they can run
  std::vector<MappingStep> steps;  ///< conversions
  double us = 0;                   ///< candidates and conversions, one after the other
  double bound_us = 0;             ///< no mapping is faster; 0: not known
  std::string method;              ///< what found it

  /// The share of `us` that another mapping could save at most.
  double gap() const { return us > 0 ? (us - bound_us) / us : 0; }
};

/// The price of a choice that covers each node once, with the cheapest conversions (a Steiner tree over
/// formats for every value); nullopt when it does not, when its candidates wait for each other in a circle,
/// when a value cannot reach its consumers, or when a limit is exceeded.
std::optional<MappingSolution> price(const MappingProblem& problem, std::span<const int> chosen);

/// The cheapest tree that leads from format `from` to all of `to`, for values of that number. nullopt: there
/// is none. Exact up to 8 formats in `to`, else by cheapest paths one after the other.
std::optional<std::vector<MappingStep>> cheapest_conversions(const MappingProblem& problem, int value,
                                                             int from, const std::vector<int>& to);

}  // namespace baton
