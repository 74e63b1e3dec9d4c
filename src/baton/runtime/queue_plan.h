// What of a plan may run side by side: a queue for each device and for each pair of devices with copies
// between them, and what a call waits for in other queues.
#pragma once

#include <cstdint>
#include <vector>

#include "baton/runtime/plan.h"

namespace baton {

/// The calls of a plan (kernels and copies) by queue. Each queue takes its calls in order, each when what it
/// reads has been computed and nobody needs any more what it overwrites. The order is one in which queues
/// wait little for each other; every call sees the memory that it sees in the order of the plan.
struct QueuePlan {
  struct Queue {
    int from = 1, to = 1;              ///< types of devices, from <= to; a device: both the same
    std::vector<uint32_t> calls = {};  ///< indices into QueuePlan::calls, ascending
    bool is_link() const { return from != to; }
  };
  /// The first `calls` calls of another queue must be complete.
  struct Wait {
    uint32_t queue, calls;
  };
  struct Call {
    uint32_t node;
    uint32_t queue;
    uint32_t position;             ///< in its queue
    std::vector<Wait> waits = {};  ///< without those that its queue or another of its waits has waited for
    std::vector<uint32_t> wakes = {};  ///< queues with a call that waits for this one
  };

  std::vector<Queue> queues;  ///< the processor's first, also without calls; then devices, then links
  std::vector<Call> calls;    ///< those that a call waits for come before it
};

QueuePlan queue_plan(const Plan& plan);

}  // namespace baton
