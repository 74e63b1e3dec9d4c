#pragma once
// A plan whose calls were measured one after the other, with its devices and links side by side.
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "baton/runtime/plan.h"

namespace baton {

/// A device, or the link between two.
struct PlanQueue {
  std::string name;
  double busy_us = 0;
  std::vector<std::pair<double, double>> spans = {};  ///< begin and end of what it does, in order
  /// By span: the operators that it computes, or that a copy or change of layout is for.
  std::vector<std::vector<uint32_t>> operators = {};
};

struct PlanQueues {
  std::vector<PlanQueue> queues;  ///< those that do something; devices first
  double serial_us = 0;           ///< the sum
  double latency_us = 0;          ///< the end of the last span
  double interval_us = 0;         ///< of the busiest queue: a stream of inputs takes that long per input
};

/// Every queue takes its calls in the order of the plan, each when its operands are there and its result's
/// memory is free. `node_us`: by node, of one call; `names`: by type of device; others are called by their
/// number. Streams need memory for as many inputs as are on the way.
PlanQueues side_by_side(const Plan& plan, std::span<const double> node_us,
                        const std::map<int, std::string>& names);

}  // namespace baton
