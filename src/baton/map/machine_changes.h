#pragma once
// The same problem on another machine: other links, memories and devices. Device 0 is the processor, which
// stays as it is.
#include <vector>

#include "baton/map/problem.h"

namespace baton {

/// Links between devices `factor` times as fast, in latency and rate.
MappingProblem with_links(const MappingProblem& problem, double factor);
/// Limits of memory `factor` times as large.
MappingProblem with_memory(const MappingProblem& problem, double factor);
/// Devices other than the processor `factor` times as fast, their changes of layout included.
MappingProblem with_compute(const MappingProblem& problem, double factor);

struct MultipliedProblem {
  MappingProblem problem;
  std::vector<int> original;  ///< of each candidate: that of the given problem that it repeats
};

/// `count` of each device other than the processor, each with its queue, its memory and the links of the
/// first. Those of one device have no link between each other that the device has not to itself: values pass
/// through the processor. Candidates and formats of fewer devices keep their numbers with more of them.
MultipliedProblem with_devices(const MappingProblem& problem, int count);

/// A stream of inputs that `count` of each device take in turn: of each input a device and its links have
/// 1/count of the time. Each keeps all weights, so that limits of memory stay.
MappingProblem in_turns(const MappingProblem& problem, int count);

}  // namespace baton
