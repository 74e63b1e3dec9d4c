#include "baton/codegen/kernel/marks.h"

#include <algorithm>

#include "baton/runtime/marks.h"

namespace baton {

namespace hi = Halide::Internal;

namespace {

hi::Stmt stamp(int id) {
  return hi::Evaluate::make(
      hi::Call::make(Halide::Int(32), "baton_mark_fenced", {Halide::Expr(id)}, hi::Call::Extern));
}

}  // namespace

MarkSite MarkPass::site_of(const std::string& func, const std::string& prefix) {
  MarkSite site;
  if (!func.starts_with(prefix + "_b")) return site;
  std::string name = func.substr(prefix.size() + 1);
  const size_t digits_end = name.find('_');
  const size_t stage_at = name.find("__");
  if (digits_end == std::string::npos || stage_at == std::string::npos || digits_end < 2) return site;
  for (size_t i = 1; i < digits_end; ++i)
    if (name[i] < '0' || name[i] > '9') return site;
  std::string stage = name.substr(stage_at + 2);
  // Suffixes added by Halide: a counter for repeated names, and a word for Funcs made by rfactor, in() and
  // clone_in().
  for (const char* tail : {"$", "__", "_intm", "_in_", "_clone_in_", "_global_wrapper", "."})
    if (const size_t at = stage.find(tail); at != std::string::npos && at > 0) stage.resize(at);
  site.block = std::stoi(name.substr(1, digits_end - 1));
  site.stage = stage;
  site.name = name.substr(0, stage_at + 2) + stage;
  return site;
}

hi::Stmt MarkPass::mark(int id) const {
  return variant_.doubled ? hi::Block::make(stamp(kCalibrationSlot), stamp(id)) : stamp(id);
}

void MarkPass::hold(const HeldStage& stage) {
  for (MarkSite& around : sites_) {
    if (around.id != enclosing_.back() || around.block == stage.block) continue;
    if (std::find(around.holds.begin(), around.holds.end(), stage) == around.holds.end())
      around.holds.push_back(stage);
  }
}

int MarkPass::id_of(const MarkSite& site) {
  for (const MarkSite& known : sites_)
    if (known.name == site.name) return known.id;
  MarkSite fresh = site;
  fresh.id = sites_.empty() ? 1 : sites_.back().id + 1;
  if (fresh.id == kCalibrationSlot) ++fresh.id;
  if (fresh.id >= kMarkSlots)
    return enclosing_.back();  // no slots left: further stages are merged into the enclosing one
  sites_.push_back(fresh);
  return fresh.id;
}

bool MarkPass::opens(int block) const {
  const bool in_the_result = within_.size() == 2;
  return block != within_.back() || (variant_.within && in_the_result);
}

hi::Stmt MarkPass::visit(const hi::ProducerConsumer* node) {
  if (!node->is_producer) return IRMutator::visit(node);
  const MarkSite site = site_of(node->name, prefix_);
  if (site.name.empty() || !opens(site.block)) return IRMutator::visit(node);
  // A stage without an enclosing stage is never merged: its time would be lost, and it has few marks.
  const bool merged = enclosing_.back() != 0 && variant_.merged.count(site.name) > 0;
  if (merged) hold({site.block, site.stage});
  const int outside = enclosing_.back(), id = merged ? outside : id_of(site);
  enclosing_.push_back(id);
  within_.push_back(site.block);
  const hi::Stmt body = mutate(node->body);
  enclosing_.pop_back();
  within_.pop_back();
  if (id == outside) return hi::ProducerConsumer::make(node->name, true, body);
  return hi::ProducerConsumer::make(node->name, true, hi::Block::make({mark(id), body, mark(outside)}));
}

hi::Stmt MarkPass::visit(const hi::For* node) {
  if (node->for_type != hi::ForType::Parallel) return IRMutator::visit(node);
  // An iteration may run on any thread, so it opens and closes its own interval. Afterwards the calling
  // thread, which may have run iterations, continues the stage around the loop.
  const int id = enclosing_.back();
  const hi::Stmt body = hi::Block::make({mark(id), mutate(node->body), mark(0)});
  const hi::Stmt loop = hi::For::make(node->name, node->min, node->extent, node->for_type,
                                      node->partition_policy, node->device_api, body);
  return hi::Block::make(loop, mark(id));
}

}  // namespace baton
