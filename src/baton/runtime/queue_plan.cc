#include "baton/runtime/queue_plan.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "baton/runtime/processor.h"

namespace baton {
namespace {

/// Makes the queues and their calls, without waits.
QueuePlan calls_by_queue(const Plan& plan) {
  // By kind (the processor, devices, links) and devices.
  std::map<std::pair<int, std::pair<int, int>>, std::vector<uint32_t>> queues;
  const auto key_of = [](int a, int b) {
    const std::pair<int, int> ends = std::minmax(a, b);
    return std::pair(ends.first != ends.second ? 2 : ends.first != kProcessorKind ? 1 : 0, ends);
  };
  queues[key_of(kProcessorKind, kProcessorKind)];
  QueuePlan result;
  for (uint32_t n = 0; n < plan.nodes.size(); ++n) {
    const PlanNode& node = plan.nodes[n];
    if (node.kind != PlanNode::Kind::kKernel && node.kind != PlanNode::Kind::kCopy) continue;
    const int to = plan.entries[node.first_entry].device_type;
    const bool copies = node.kind == PlanNode::Kind::kCopy && !node.inputs.empty();
    const int from = copies ? plan.entries[node.inputs.front()].device_type : to;
    queues[key_of(from, to)].push_back(static_cast<uint32_t>(result.calls.size()));
    result.calls.push_back({.node = n, .queue = 0, .position = 0});
  }
  for (auto& [key, calls] : queues) {
    for (uint32_t i = 0; i < calls.size(); ++i) {
      result.calls[calls[i]].queue = static_cast<uint32_t>(result.queues.size());
      result.calls[calls[i]].position = i;
    }
    result.queues.push_back({key.second.first, key.second.second, std::move(calls)});
  }
  return result;
}

/// The calls that a call must come after, by the memory that they share.
class MemoryUse {
 public:
  explicit MemoryUse(const Plan& plan) : plan_(plan), uses_(plan.storages.size()) {}

  /// Descending, without repetitions.
  std::vector<uint32_t> before(uint32_t call, const PlanNode& node) {
    std::vector<uint32_t> found;
    const auto wait_for_writer = [&](const Use& use) {
      if (use.written) found.push_back(use.writer);
    };
    for (const EntryId entry : node.inputs) {
      Use& use = use_of(entry);
      wait_for_writer(use);
      use.readers.push_back(call);
    }
    for (uint32_t i = 0; i < node.num_outputs; ++i) {
      Use& use = use_of(node.first_entry + i);
      wait_for_writer(use);
      found.insert(found.end(), use.readers.begin(), use.readers.end());
      use = {.written = true, .writer = call, .readers = {}};
    }
    std::sort(found.begin(), found.end(), std::greater<>());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    if (!found.empty() && found.front() == call) found.erase(found.begin());  // computed in place
    return found;
  }

 private:
  struct Use {
    bool written = false;
    uint32_t writer = 0;
    std::vector<uint32_t> readers = {};  // since it was written
  };
  Use& use_of(EntryId entry) { return uses_[static_cast<size_t>(plan_.entries[entry].storage)]; }

  const Plan& plan_;
  std::vector<Use> uses_;
};

/// Calls in the order in which they would begin if every kernel took the same time, and a copy a quarter of
/// it: a queue does not wait for another one while it could do something else. Of those that could begin at
/// once the first is the one with most to come in other queues, else the first of the plan, whose operands
/// are in the cache.
class Ordered {
 public:
  Ordered(const Plan& plan, const QueuePlan& planned, const std::vector<std::vector<uint32_t>>& before)
      : calls_(planned.calls), before_(before), after_(before.size()), left_(before.size()) {
    for (uint32_t c = 0; c < calls_.size(); ++c) {
      cost_.push_back(plan.nodes[calls_[c].node].kind == PlanNode::Kind::kCopy ? 1 : 4);
      left_[c] = static_cast<uint32_t>(before[c].size());
      for (const uint32_t other : before[c]) after_[other].push_back(c);
    }
    look_ahead();
    open_.resize(planned.queues.size());
    ready_.resize(calls_.size());
  }

  /// Indices of calls; `before` of each come first.
  std::vector<uint32_t> order() {
    std::vector<uint32_t> order;
    for (uint32_t c = 0; c < calls_.size(); ++c)
      if (left_[c] == 0) offer(c);
    for (;;) {
      Open* first = nullptr;
      for (Open& queue : open_)
        if (queue.any() && (!first || queue.next() < first->next())) first = &queue;
      if (!first) return order;
      const auto [begin, elsewhere, call] = first->take();
      order.push_back(call);
      const uint64_t end = begin + cost_[call];
      first->set_free(end);
      for (const uint32_t other : after_[call]) {
        ready_[other] = std::max(ready_[other], end);
        if (--left_[other] == 0) offer(other);
      }
    }
  }

 private:
  /// When a call can begin, the complement of `elsewhere_`, and the call: the least is the next.
  using Key = std::tuple<uint64_t, uint64_t, uint32_t>;
  using Heap = std::priority_queue<Key, std::vector<Key>, std::greater<>>;

  /// The calls of a queue whose operands are there, or have a known time.
  class Open {
   public:
    bool any() const { return !now_.empty() || !later_.empty(); }
    Key next() const {
      if (now_.empty()) return later_.top();
      const auto [ready, elsewhere, call] = now_.top();
      return {free_, elsewhere, call};
    }
    Key take() {
      const Key key = next();
      (now_.empty() ? later_ : now_).pop();
      return key;
    }
    void add(uint64_t ready, uint64_t elsewhere, uint32_t call) {
      if (ready <= free_)
        now_.push({0, elsewhere, call});
      else
        later_.push({ready, elsewhere, call});
    }
    void set_free(uint64_t time) {
      free_ = time;
      for (; !later_.empty() && std::get<0>(later_.top()) <= free_; later_.pop())
        now_.push({0, std::get<1>(later_.top()), std::get<2>(later_.top())});
    }

   private:
    uint64_t free_ = 0;
    Heap now_;    // these begin when the queue is free
    Heap later_;  // these when they are ready
  };

  void offer(uint32_t call) { open_[calls_[call].queue].add(ready_[call], ~elsewhere_[call], call); }

  void look_ahead() {
    std::vector<uint64_t> to_end(calls_.size());  // the longest way to the end, this call included
    elsewhere_.resize(calls_.size());
    for (size_t c = calls_.size(); c-- > 0;) {
      for (const uint32_t other : after_[c]) {
        to_end[c] = std::max(to_end[c], to_end[other]);
        elsewhere_[c] = std::max(elsewhere_[c],
                                 calls_[other].queue == calls_[c].queue ? elsewhere_[other] : to_end[other]);
      }
      to_end[c] += cost_[c];
    }
  }

  const std::vector<QueuePlan::Call>& calls_;
  const std::vector<std::vector<uint32_t>>& before_;
  std::vector<std::vector<uint32_t>> after_;
  std::vector<uint32_t> left_;       // by call: how many before it are not in the order yet
  std::vector<uint64_t> cost_;       // by call
  std::vector<uint64_t> elsewhere_;  // by call: the longest way to the end from where it leaves the queue
  std::vector<Open> open_;           // by queue
  std::vector<uint64_t> ready_;      // by call
};

/// Puts calls, and with them those of each queue, into an order.
void reorder(QueuePlan& plan, std::vector<std::vector<uint32_t>>& before,
             const std::vector<uint32_t>& order) {
  std::vector<uint32_t> place(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  std::vector<QueuePlan::Call> calls;
  std::vector<std::vector<uint32_t>> moved;
  for (QueuePlan::Queue& queue : plan.queues) queue.calls.clear();
  for (uint32_t i = 0; i < order.size(); ++i) {
    calls.push_back(plan.calls[order[i]]);
    std::vector<uint32_t>& in_queue = plan.queues[calls.back().queue].calls;
    calls.back().position = static_cast<uint32_t>(in_queue.size());
    in_queue.push_back(i);
    moved.push_back(std::move(before[order[i]]));
    for (uint32_t& other : moved.back()) other = place[other];
    std::sort(moved.back().begin(), moved.back().end(), std::greater<>());
  }
  plan.calls = std::move(calls);
  before = std::move(moved);
}

/// Only what a queue has not waited for before. `before`: of each call those that it comes after.
void add_waits(QueuePlan& result, const std::vector<std::vector<uint32_t>>& before) {
  // By call and queue: how many calls of that queue are complete when the call begins, as its queue has
  // waited for them.
  std::vector<std::vector<uint32_t>> known(result.calls.size());
  std::vector<std::vector<uint32_t>> last(result.queues.size(), std::vector<uint32_t>(result.queues.size()));
  for (uint32_t c = 0; c < result.calls.size(); ++c) {
    QueuePlan::Call& call = result.calls[c];
    std::vector<uint32_t>& here = last[call.queue];
    for (const uint32_t other : before[c]) {
      QueuePlan::Call& earlier = result.calls[other];
      if (earlier.queue == call.queue || here[earlier.queue] > earlier.position) continue;
      call.waits.push_back({earlier.queue, earlier.position + 1});
      if (std::find(earlier.wakes.begin(), earlier.wakes.end(), call.queue) == earlier.wakes.end())
        earlier.wakes.push_back(call.queue);
      here[earlier.queue] = earlier.position + 1;
      for (size_t q = 0; q < here.size(); ++q) here[q] = std::max(here[q], known[other][q]);
    }
    known[c] = here;
  }
}

}  // namespace

QueuePlan queue_plan(const Plan& plan) {
  QueuePlan result = calls_by_queue(plan);
  MemoryUse memory(plan);
  std::vector<std::vector<uint32_t>> before(result.calls.size());
  for (uint32_t c = 0; c < result.calls.size(); ++c)
    before[c] = memory.before(c, plan.nodes[result.calls[c].node]);
  if (result.queues.size() > 1) reorder(result, before, Ordered(plan, result, before).order());
  add_waits(result, before);
  return result;
}

}  // namespace baton
