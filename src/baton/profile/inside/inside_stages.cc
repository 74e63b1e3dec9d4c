#include "baton/profile/inside/inside_stages.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "baton/codegen/kernel/ablation.h"
#include "baton/ir/op.h"

namespace baton {

namespace {

// A stage's index in its operator's creation order.
size_t place_of(const InsideSubject& subject, const MarkSite& site) {
  if (site.block < 0 || site.block >= static_cast<int>(subject.stages.size())) return 0;
  const auto& made = subject.stages[site.block];
  return static_cast<size_t>(std::find(made.begin(), made.end(), site.stage) - made.begin());
}

}  // namespace

std::vector<size_t> in_order(const InsideSubject& subject) {
  const std::vector<MarkSite>& sites = subject.marks;
  std::vector<size_t> order(sites.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto key = [&](size_t i) {
    return std::make_tuple(sites[i].block < 0, sites[i].block, place_of(subject, sites[i]));
  };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
  return order;
}

int stage_of(const InsideSubject& subject, int block) {
  const std::vector<size_t> order = in_order(subject);
  for (int at = block; at >= 0;) {
    int own = -1;
    for (size_t i : order)
      if (subject.marks[i].block == at && (own < 0 || at == block)) own = static_cast<int>(i);
    if (own >= 0) return own;
    int consumer = -1;
    for (int next = at + 1; next < static_cast<int>(subject.blocks.size()) && consumer < 0; ++next)
      for (int producer : subject.blocks[next].producers)
        if (producer == at) consumer = next;
    at = consumer;
  }
  return -1;
}

std::string stage_text(const MarkSite& site) {
  std::string text;
  for (const HeldStage& held : site.holds) text += held.stage + ", ";
  return text + site.stage;
}

namespace {

/// Whether the block's values are stored by a loop of its own.
bool is_stored(const InsideSubject& subject, int block) {
  const auto at = static_cast<size_t>(block);
  if (at >= subject.stages.size() || subject.stages[at].empty()) return false;
  const HeldStage result{block, subject.stages[at].back()};
  return std::ranges::any_of(subject.marks, [&](const MarkSite& site) {
    return (site.block == block && site.stage == result.stage) || std::ranges::count(site.holds, result) > 0;
  });
}

/// The block whose values the loop of `block` computes: behind those that only move them, unless they come
/// from memory. Then it is the first that changes their order.
int computes_in(const InsideSubject& subject, int block) {
  int orders = -1;
  for (int at = block;;) {
    const KernelBlock& of = subject.blocks.at(static_cast<size_t>(at));
    const int moved = moved_input(of);
    if (moved < 0) return at;
    if (orders < 0 && !of.call->op()->reshape_only) orders = at;
    const int producer = of.producers.at(static_cast<size_t>(moved));
    if (producer < 0 || is_stored(subject, producer)) return orders >= 0 ? orders : block;
    at = producer;
  }
}

}  // namespace

bool moves_nothing(const InsideSubject& subject, int block) {
  const KernelBlock& of = subject.blocks.at(static_cast<size_t>(block));
  return of.call->op()->reshape_only && moved_input(of) >= 0;
}

std::vector<int> movable(const InsideSubject& subject) {
  std::vector<int> blocks;
  for (int block = 0; block < static_cast<int>(subject.blocks.size()); ++block) {
    const bool has_loop = std::ranges::any_of(subject.marks, [&](const MarkSite& site) {
      const std::vector<int> all = blocks_of(subject, site);
      return std::ranges::count(all, block) > 0;
    });
    const bool ablated = std::ranges::any_of(
        subject.ablated, [&](const std::vector<int>& group) { return std::ranges::count(group, block) > 0; });
    if (!has_loop && !ablated && moved_input(subject.blocks[static_cast<size_t>(block)]) >= 0)
      blocks.push_back(block);
  }
  return blocks;
}

std::vector<int> blocks_of(const InsideSubject& subject, const MarkSite& site) {
  std::vector<int> blocks;
  if (site.block >= 0 && site.block < static_cast<int>(subject.blocks.size()))
    blocks.push_back(computes_in(subject, site.block));
  for (const HeldStage& held : site.holds)
    if (std::find(blocks.begin(), blocks.end(), held.block) == blocks.end()) blocks.push_back(held.block);
  return blocks;
}

std::map<int, std::vector<int>> left_in(const InsideSubject& subject) {
  std::set<int> named;
  for (const MarkSite& site : subject.marks)
    for (int block : blocks_of(subject, site)) named.insert(block);
  for (const auto& group : subject.ablated) named.insert(group.begin(), group.end());
  std::map<int, std::vector<int>> left;
  for (int block = 0; block < static_cast<int>(subject.blocks.size()); ++block)
    if (!named.count(block)) left[stage_of(subject, block)].push_back(block);
  return left;
}

bool is_root(const InsideSubject& subject, const MarkSite& site) {
  const int last = static_cast<int>(subject.blocks.size()) - 1;
  if (site.block != last || site.block >= static_cast<int>(subject.stages.size()))
    return site.block < 0 || site.block == last;
  const std::string& result = subject.stages[last].back();
  const bool marked = std::any_of(subject.marks.begin(), subject.marks.end(), [&](const MarkSite& other) {
    return other.block == last && other.stage == result;
  });
  return !marked || site.stage == result;
}

std::vector<std::vector<int>> ablatable(const InsideSubject& subject) {
  std::set<int> with_stage;
  for (const MarkSite& site : subject.marks) with_stage.insert(site.block);
  const int last = static_cast<int>(subject.blocks.size()) - 1;
  std::vector<std::vector<int>> groups;
  for (int block = 0; last > 0 && block <= last; ++block) {
    if ((with_stage.count(block) && block != last) || !refuses_ablation(subject.blocks[block]).empty())
      continue;
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const std::vector<int>& group) {
      const OriginSet& origins = subject.blocks[group.front()].call->origins();
      return !origins.origins().empty() && origins == subject.blocks[block].call->origins() &&
             stage_of(subject, group.front()) == stage_of(subject, block);
    });
    if (same != groups.end())
      same->push_back(block);
    else
      groups.push_back({block});
  }
  return groups;
}

}  // namespace baton
