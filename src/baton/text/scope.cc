#include "baton/text/scope.h"

namespace baton::text {

void Scope::open_block() {
  blocks_.push_back({locals_.size(), static_cast<uint32_t>(open_.size())});
  open_.push_back(true);
}

void Scope::close_block() {
  const Block block = blocks_.back();
  blocks_.pop_back();
  open_[block.id] = false;
  while (locals_.size() > block.locals) {
    const Entry& entry = locals_.back();
    if (entry.outer == kNone)
      innermost_.erase(entry.local.name.text);
    else
      innermost_[entry.local.name.text] = entry.outer;
    locals_.pop_back();
  }
}

Scope::Local* Scope::find(std::string_view name) {
  const auto at = innermost_.find(name);
  return at == innermost_.end() ? nullptr : &locals_[at->second].local;
}

void Scope::declare(const Token& name, Var var) {
  const auto [at, fresh] = innermost_.try_emplace(name.text, static_cast<uint32_t>(locals_.size()));
  const uint32_t outer = fresh ? kNone : at->second;
  at->second = static_cast<uint32_t>(locals_.size());
  locals_.push_back({{std::move(var), name, function_depth_, false}, outer});
}

bool Scope::declared_here(std::string_view name) const {
  const auto at = innermost_.find(name);
  return at != innermost_.end() && at->second >= (blocks_.empty() ? 0 : blocks_.back().locals);
}

std::vector<std::string> Scope::visible_names() const {
  std::vector<std::string> names;
  for (size_t i = locals_.size(); i > 0 && names.size() < 1000; --i)
    names.emplace_back(locals_[i - 1].local.name.text);
  return names;
}

const Scope::Graph* Scope::find_graph(uint64_t number) const {
  if (number - first_ < dense_.size()) return &dense_[number - first_];
  const auto at = sparse_.find(number);
  return at == sparse_.end() ? nullptr : &at->second;
}

const Scope::Graph* Scope::open_graph(uint64_t number) const {
  const Graph* graph = find_graph(number);
  return graph && open_[graph->block] ? graph : nullptr;
}

void Scope::define_graph(uint64_t number, const Token& name, Expr expr) {
  Graph graph{std::move(expr), name, blocks_.back().id};
  if (dense_.empty() && sparse_.empty()) first_ = number;
  if (number - first_ < dense_.size())
    dense_[number - first_] = std::move(graph);
  else if (number - first_ == dense_.size() && !sparse_.contains(number))
    dense_.push_back(std::move(graph));
  else
    sparse_[number] = std::move(graph);
}

void Scope::clear_graph() {
  dense_.clear();
  sparse_.clear();
}

}  // namespace baton::text
