// Merges adjacent regions of one compiler:
//   end(relu(begin(end(conv(begin(x), begin(w))))))  ->  end(relu(conv(begin(x), begin(w))))
// A region absorbs each region of the same compiler that it depends on, unless that would close a cycle, i.e.
// there is another path to it through a region that stays outside.
//
// Paths are searched in the graph of regions merged so far. It is kept in topological order, so that only
// regions between the two are visited (as in Pearce and Kelly, "A dynamic topological sort algorithm for
// directed acyclic graphs", 2006). TVM 0.11.1 propagates merge restrictions only from predecessors, and can
// create cycles (apache/tvm#15211); this algorithm cannot.

#include <algorithm>
#include <map>
#include <queue>
#include <utility>

#include "baton/byoc/annotation.h"
#include "baton/byoc/regions.h"
#include "baton/ir/op.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"

namespace baton {

namespace {

using Index = Regions::Index;

class Merger {
 public:
  explicit Merger(Regions& regions) : regions_(regions), nodes_(regions.size()) {}

  void run() {
    for (const CallNode* end : regions_.ends()) visit(regions_.of(end));
  }

 private:
  struct Node {
    uint64_t place = 0;          ///< topological: dependencies have smaller ones; 0 until assigned
    std::vector<Index> parents;  ///< dependencies, by any of their indices
    bool open = false;           ///< on the stack of visit()
    uint32_t seen = 0;           ///< the last search that visited it
    uint32_t reached = 0;        ///< the last search that reached it from another region
  };

  // Dependencies are visited before `first`.
  void visit(Index first) {
    std::vector<std::pair<Index, size_t>> stack;
    const auto open = [&](Index region) {
      Node& node = nodes_[region];
      if (node.place || node.open) return;
      node.open = true;
      for (const CallNode* begin : regions_[region].begins) {
        const Index parent = regions_.of(begin->args()[0]);
        if (parent != Regions::kNone && parent != region) node.parents.push_back(parent);
      }
      stack.emplace_back(region, 0);
    };
    open(regions_.find(first));
    while (!stack.empty()) {
      auto& [region, at] = stack.back();
      if (at < nodes_[region].parents.size()) {
        open(regions_.find(nodes_[region].parents[at++]));
        continue;
      }
      const Index done = region;
      stack.pop_back();
      nodes_[done].open = false;
      enter(done);
    }
  }

  // The distinct parents, after merging, without `region` itself.
  const std::vector<Index>& parents_of(Index region) {
    std::vector<Index>& parents = nodes_[region].parents;
    for (Index& parent : parents) parent = regions_.find(parent);
    std::sort(parents.begin(), parents.end());
    parents.erase(std::unique(parents.begin(), parents.end()), parents.end());
    std::erase_if(parents, [&](Index parent) { return parent == region || !nodes_[parent].place; });
    return parents;
  }

  // All dependencies of `region` have their positions.
  void enter(Index region) {
    nodes_[region].place = last_ += kGap;
    order_.emplace_hint(order_.end(), last_, region);
    const std::vector<Index> parents = parents_of(region);
    std::vector<Index> candidates;  // sorted
    for (Index parent : parents)
      if (regions_[parent].compiler == regions_[region].compiler) candidates.push_back(parent);
    const auto is_candidate = [&](Index at) {
      return std::binary_search(candidates.begin(), candidates.end(), at);
    };

    // Backwards from the parents in reverse topological order: when a candidate is visited and no other
    // region has reached it, none will.
    ++search_;
    size_t undecided = candidates.size();
    std::vector<Index> merging, passed;
    const auto earlier = [this](Index a, Index b) { return nodes_[a].place < nodes_[b].place; };
    std::priority_queue<Index, std::vector<Index>, decltype(earlier)> queue(earlier);
    const auto meet = [&](Index at) {
      if (std::exchange(nodes_[at].seen, search_) != search_) queue.push(at);
    };
    for (Index parent : parents) meet(parent);
    while (undecided > 0) {
      const Index at = queue.top();
      queue.pop();
      if (is_candidate(at) && nodes_[at].reached != search_) {
        merging.push_back(at);
        --undecided;
      } else {
        passed.push_back(at);
      }
      if (undecided == 0) break;
      for (Index before : parents_of(at)) {
        if (std::exchange(nodes_[before].reached, search_) != search_ && is_candidate(before)) --undecided;
        meet(before);
      }
    }
    if (!merging.empty()) merge(region, merging, passed);
  }

  // `region` absorbs `merging` and takes the position of the earliest of these. Its dependencies between
  // them, `passed`, move before it; both are sorted, the latest first.
  void merge(Index region, const std::vector<Index>& merging, std::vector<Index> passed) {
    const uint64_t place = nodes_[merging.back()].place;
    std::erase_if(passed, [&](Index at) { return nodes_[at].place < place; });
    std::reverse(passed.begin(), passed.end());
    order_.erase(nodes_[region].place);
    for (Index from : merging) {
      order_.erase(nodes_[from].place);
      std::vector<Index> parents = std::move(nodes_[from].parents), own = std::move(nodes_[region].parents);
      if (own.size() < parents.size()) own.swap(parents);
      own.insert(own.end(), parents.begin(), parents.end());
      regions_.merge(from, region);
      region = regions_.find(region);
      nodes_[region].parents = std::move(own);
    }
    nodes_[region].place = place;
    order_.emplace(place, region);
    if (!passed.empty()) move_before(region, passed);
  }

  void move_before(Index region, const std::vector<Index>& moved) {
    for (Index at : moved) order_.erase(nodes_[at].place);
    const auto place_before = [this](Index at) {
      const auto found = order_.find(nodes_[at].place);
      return found == order_.begin() ? 0 : std::prev(found)->first;
    };
    if (nodes_[region].place - place_before(region) <= moved.size()) spread(moved.size());
    // As early as there is room: the next regions to move come after these.
    uint64_t place = place_before(region);
    for (Index at : moved) order_.emplace(nodes_[at].place = ++place, at);
  }

  // Reassigns all positions, with room for `more` before each.
  void spread(size_t more) {
    std::map<uint64_t, Index> old;
    old.swap(order_);
    last_ = 0;
    for (const auto& [place, region] : old) {
      nodes_[region].place = last_ += kGap + more;
      order_.emplace_hint(order_.end(), last_, region);
    }
  }

  static constexpr uint64_t kGap = uint64_t{1} << 24;
  Regions& regions_;
  std::vector<Node> nodes_;
  std::map<uint64_t, Index> order_;  // by position
  uint64_t last_ = 0;
  uint32_t search_ = 0;
};

// Removes annotations where a value leaves a region and enters the same one again.
class MarkRemover final : public Rewriter {
 public:
  explicit MarkRemover(Regions& regions) : regions_(regions) {}

 private:
  bool enter(const Expr&) override { return true; }

  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const CallNode* begin = as_compiler_begin(original);
    const CallNode* end = begin ? as_compiler_end(begin->args()[0]) : nullptr;
    if (!end || regions_.of(begin) != regions_.of(end)) return rebuilt;
    retire(begin->origins(), kInside);
    retire(end->origins(), kInside);
    return as<CallNode>(as<CallNode>(rebuilt)->args()[0])->args()[0];
  }

  static constexpr std::string_view kInside = "the mark was between two regions that are one now";
  Regions& regions_;
};

}  // namespace

Pass merge_compiler_regions() {
  const Pass merge = function_pass(
      {0, "MergeCompilerRegions", {}},
      [](const Function& function, const IRModule&, const PassContext&) {
        Regions regions{Expr(function)};
        Merger(regions).run();
        return as_ref<FunctionNode>(MarkRemover(regions).run(Expr(function)));
      },
      true);
  return sequential({merge, make_pass("InferType")}, "MergeCompilerRegions");
}

}  // namespace baton
