#pragma once
// Devices that work side by side: every device computes one candidate after the other, every link between two
// devices carries one copy after the other. The latency of one input, and the throughput of a stream of
// inputs.
#include <atomic>

#include "baton/map/problem.h"

namespace baton {

/// One thing that a queue does.
struct QueueItem {
  int queue = 0;
  double begin_us = 0, end_us = 0;
  int candidate = -1;  ///< index into MappingSolution::chosen; -1: a conversion
  int step = -1;       ///< index into MappingSolution::steps; -1: a candidate
};

/// The queues of a problem: one for each device, then one for each pair of devices with a link.
class Queues {
 public:
  explicit Queues(const MappingProblem& problem);
  int count() const { return static_cast<int>(names_.size()); }
  const std::string& name(int queue) const { return names_[static_cast<size_t>(queue)]; }
  /// A conversion within one device is that device's work.
  int of_conversion(int from, int to) const;

 private:
  const MappingProblem& problem_;
  std::vector<std::vector<int>> link_;  ///< [device][device]
  std::vector<std::string> names_;
};

/// When everything begins and ends if each queue takes what is ready, the longest way to the end first.
std::vector<QueueItem> timeline(const MappingProblem& problem, const MappingSolution& solution);
/// The end of the last item.
double latency_us(const std::vector<QueueItem>& timeline);
/// The same, and what does not overlap.
double latency_us(const MappingProblem& problem, const MappingSolution& solution);
/// The load of the busiest queue, and what does not overlap: a stream of inputs takes that long per input.
double interval_us(const MappingProblem& problem, const MappingSolution& solution);

struct QueueOptions {
  size_t width = 256;  ///< of the searches along the graph
  double seconds = 5;
  int rounds = 200;  ///< of the search for better weights
  const std::atomic<bool>* interrupt = nullptr;
};

/// Makes latency_us() of `start` shorter by giving parts of the graph to other devices, until nothing helps
/// or the time is over. `us` of the result is that latency; bound_us: the longest chain of nodes, each at its
/// fastest, without copies.
MappingSolution search_latency(const MappingProblem& problem, const MappingSolution& start,
                               const QueueOptions& options);

/// The mapping with the shortest interval_us() found, which is its `us`. bound_us holds for every mapping: it
/// is the optimum where each queue's time is weighted, for the best weights found.
std::optional<MappingSolution> search_throughput(const MappingProblem& problem, const QueueOptions& options);

}  // namespace baton
