#include "baton/pass/trace.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/support/hash.h"
#include "baton/support/pointer_map.h"
#include "baton/text/origin_label.h"

namespace baton {

namespace {

using ChangeKind = OriginChange::Kind;
using Clock = std::chrono::steady_clock;

// A node with origins or causes.
struct Item {
  Expr node;
  uint64_t key;  // equal for equivalent nodes with the same origins
};

bool counts(const Expr& node) {
  if (const auto* call = as<CallNode>(node)) return call->op() != nullptr;
  if (const auto* function = as<FunctionNode>(node)) return function->is_primitive();
  return node->kind() == ExprKind::kConstant;
}

uint64_t key_of(const ExprNode& node) {
  Hasher hash(static_cast<uint64_t>(node.kind()));
  if (const auto* call = as<CallNode>(&node)) {
    hash.add_text(call->op()->name);
    hash.add(attrs_hash(call->attrs()));
  }
  for (const Origin* origin : node.origins().origins()) hash.add(origin->serial());
  hash.add(0);  // separates origins from causes
  for (const Origin* origin : node.origins().causes()) hash.add(origin->serial());
  return hash.value();
}

// Text of a fused function: its operators in order, truncated when long.
std::string function_text(const FunctionNode& function) {
  constexpr size_t kShown = 12;
  std::vector<std::string> ops;
  post_order(function.body(), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    if (call && call->op()) ops.push_back(call->op()->name);
  });
  std::string text = "fn[";
  for (size_t i = 0; i < std::min(ops.size(), kShown); ++i) text += (i ? ", " : "") + ops[i];
  if (ops.size() > kShown) text += ", and " + std::to_string(ops.size() - kShown) + " more";
  return text + "]";
}

std::string text_of(const ExprNode& node) {
  if (const auto* call = as<CallNode>(&node)) return call->op()->name;
  if (const auto* function = as<FunctionNode>(&node)) return function_text(*function);
  return "constant";
}

// The text of an operator whose attributes changed: only the differing ones.
std::string text_against(const CallNode& before, const CallNode& after) {
  std::string text;
  for (const AttrField& field : after.attrs()->schema().fields) {
    const std::string old = attr_text(before.attrs()->get(field.name)),
                      now = attr_text(after.attrs()->get(field.name));
    if (old != now) text += (text.empty() ? "" : ", ") + field.name + " " + old + " -> " + now;
  }
  return after.op()->name + "(" + text + ")";
}

// Connected components of origin sets.
class Components {
 public:
  size_t find(const Origin* origin) { return root(at(origin)); }
  void join(std::span<const Origin* const> origins) {
    for (const Origin* origin : origins) parent_[root(at(origin))] = root(at(origins[0]));
  }

 private:
  size_t at(const Origin* origin) {
    const auto [entry, fresh] = ids_.emplace(origin, parent_.size());
    if (fresh) parent_.push_back(parent_.size());
    return entry->second;
  }
  size_t root(size_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }
  std::unordered_map<const Origin*, size_t> ids_;
  std::vector<size_t> parent_;
};

struct Group {
  std::vector<Expr> before, after;
  std::map<uint64_t, const Origin*> origins;  // by serial
};

std::vector<Ref<const Origin>> refs(const std::map<uint64_t, const Origin*>& origins) {
  std::vector<Ref<const Origin>> result;
  for (const auto& [serial, origin] : origins) result.emplace_back(origin);
  return result;
}

ChangeKind kind_of(const Group& group) {
  const auto most = [](const std::vector<Expr>& nodes) {
    size_t size = 0;
    for (const Expr& node : nodes) size = std::max(size, node->origins().origins().size());
    return size;
  };
  if (most(group.after) > std::max<size_t>(most(group.before), 1)) return ChangeKind::kMerged;
  if (group.after.empty()) return ChangeKind::kRemoved;
  if (group.after.size() > std::max<size_t>(group.before.size(), 1)) return ChangeKind::kSplit;
  if (group.after.size() < group.before.size() && group.origins.size() == 1) return ChangeKind::kMerged;
  return ChangeKind::kMade;
}

OriginChange change_of(const Group& group) {
  OriginChange change{kind_of(group), refs(group.origins), {}, {}, {}};
  const auto* before = group.before.size() == 1 ? as<CallNode>(group.before[0]) : nullptr;
  const auto* after = group.after.size() == 1 ? as<CallNode>(group.after[0]) : nullptr;
  for (const Expr& node : group.before) change.before.push_back(text_of(*node));
  if (before && after && before->op() == after->op() && before->attrs() && after->attrs())
    change.after.push_back(text_against(*before, *after));
  else
    for (const Expr& node : group.after) change.after.push_back(text_of(*node));
  return change;
}

// Nodes added by the compiler, and removed again, grouped by their causes.
void add_own_changes(const std::vector<Expr>& nodes, ChangeKind kind, std::vector<OriginChange>& changes) {
  for (const Expr& node : nodes) {
    std::map<uint64_t, const Origin*> causes;
    for (const Origin* origin : node->origins().causes()) causes.emplace(origin->serial(), origin);
    OriginChange change{kind, refs(causes), {}, {}, std::string(node->origins().reason())};
    (kind == ChangeKind::kAdded ? change.after : change.before).push_back(text_of(*node));
    changes.push_back(std::move(change));
  }
}

void add_changes(const std::vector<Expr>& gone, const std::vector<Expr>& fresh,
                 std::vector<OriginChange>& changes) {
  Components components;
  std::vector<Expr> own_gone, own_fresh;
  const auto split = [&](const std::vector<Expr>& nodes, std::vector<Expr>& own) {
    for (const Expr& node : nodes) {
      if (node->origins().origins().empty())
        own.push_back(node);
      else
        components.join(node->origins().origins());
    }
  };
  split(gone, own_gone);
  split(fresh, own_fresh);
  std::map<size_t, Group> groups;
  const auto fill = [&](const std::vector<Expr>& nodes, std::vector<Expr> Group::* side) {
    for (const Expr& node : nodes) {
      const auto origins = node->origins().origins();
      if (origins.empty()) continue;
      Group& group = groups[components.find(origins[0])];
      (group.*side).push_back(node);
      for (const Origin* origin : origins) group.origins.emplace(origin->serial(), origin);
    }
  };
  fill(gone, &Group::before);
  fill(fresh, &Group::after);
  std::vector<OriginChange> found;
  for (const auto& [root, group] : groups) found.push_back(change_of(group));
  add_own_changes(own_fresh, ChangeKind::kAdded, found);
  add_own_changes(own_gone, ChangeKind::kRemoved, found);
  std::stable_sort(found.begin(), found.end(), [](const OriginChange& a, const OriginChange& b) {
    const auto first = [](const OriginChange& c) { return c.origins.empty() ? 0 : c.origins[0]->serial(); };
    return first(a) < first(b);
  });
  std::move(found.begin(), found.end(), std::back_inserter(changes));
}

const char* kind_text(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kMade:
      return "made";
    case ChangeKind::kMerged:
      return "merged";
    case ChangeKind::kSplit:
      return "split";
    case ChangeKind::kAdded:
      return "added";
    case ChangeKind::kRemoved:
      return "removed";
    case ChangeKind::kRetired:
      return "retired";
  }
  return "";
}

// "add, 3 x multiply": adjacent duplicates are collapsed.
std::string list_text(const std::vector<std::string>& items) {
  std::string text;
  for (size_t i = 0; i < items.size();) {
    size_t end = i;
    while (end < items.size() && items[end] == items[i]) ++end;
    text += (i ? ", " : "") + (end - i > 1 ? std::to_string(end - i) + " x " : "") + items[i];
    i = end;
  }
  return text;
}

}  // namespace

// A snapshot of the module: its functions keep every node alive.
struct PassTrace::View {
  std::vector<std::pair<std::string, Function>> functions;
  PointerSet nodes;
  std::vector<Item> items;
  std::set<uint32_t> retired;
  int calls = 0;
  double overhead_s = 0;  // accumulated cost of tracing

  bool shows(const IRModuleNode& module) const {
    return module.origins().all_retired().size() == retired.size() &&
           std::equal(
               functions.begin(), functions.end(), module.functions().begin(), module.functions().end(),
               [](const auto& a, const auto& b) { return a.first == b.first && a.second == b.second; });
  }
  void read(const IRModuleNode& module) {
    functions.assign(module.functions().begin(), module.functions().end());
    for (const auto& [id, why] : module.origins().all_retired()) retired.insert(id);
    for (const auto& [name, function] : functions) {
      post_order(Expr(function), [&](const Expr& node) {
        if (!counts(node) || nodes.contains(node.get())) return;
        nodes.insert(node.get());
        calls += node->kind() == ExprKind::kCall;
        if (!node->origins().empty()) items.push_back({node, key_of(*node)});
      });
    }
  }
};

PassTrace::PassTrace() = default;
PassTrace::~PassTrace() = default;

void PassTrace::look(const IRModule& module) {
  const Clock::time_point start = Clock::now();
  if (!last_ || !last_->shows(*module)) {
    auto now = std::make_unique<View>();
    now->read(*module);
    if (last_ && !open_.empty()) {
      // Nodes that are unchanged, or only rebuilt, are not reported.
      std::unordered_map<uint64_t, std::vector<Expr>> old;
      for (const Item& item : last_->items)
        if (!now->nodes.contains(item.node.get())) old[item.key].push_back(item.node);
      std::vector<Expr> gone, fresh;
      for (const Item& item : now->items) {
        if (last_->nodes.contains(item.node.get())) continue;
        const auto at = old.find(item.key);
        if (at == old.end() || at->second.empty())
          fresh.push_back(item.node);
        else
          at->second.pop_back();
      }
      for (const Item& item : last_->items) {
        const auto at = old.find(item.key);
        if (at == old.end() || now->nodes.contains(item.node.get())) continue;
        if (const auto left = std::find(at->second.begin(), at->second.end(), item.node);
            left != at->second.end())
          gone.push_back(item.node);
      }
      std::vector<OriginChange>& changes = steps_[open_.back()].changes;
      add_changes(gone, fresh, changes);
      for (const auto& [id, why] : module->origins().all_retired())
        if (!last_->retired.contains(id))
          changes.push_back({ChangeKind::kRetired,
                             {Ref<const Origin>(&module->origins().at(OriginId(id)))},
                             {},
                             {},
                             why.reason});
    }
    now->overhead_s = last_ ? last_->overhead_s : 0;
    last_ = std::move(now);
  }
  last_->overhead_s += std::chrono::duration<double>(Clock::now() - start).count();
}

void PassTrace::exit_pass_ctx() {
  open_.clear();
  started_.clear();
  last_.reset();
}

void PassTrace::run_before_pass(const IRModule& module, const PassInfo& info) {
  if (open_.empty()) last_.reset();  // changes made outside passes are the user's
  look(module);
  PassStep step;
  step.pass = info.name;
  step.depth = static_cast<int>(open_.size());
  step.calls_before = last_->calls;
  step.seconds = -last_->overhead_s;
  open_.push_back(steps_.size());
  steps_.push_back(std::move(step));
  started_.push_back(Clock::now());
}

void PassTrace::run_after_pass(const IRModule& module, const PassInfo&) {
  if (open_.empty()) return;  // the pass began before this instrument was entered
  const double elapsed = std::chrono::duration<double>(Clock::now() - started_.back()).count();
  PassStep& step = steps_[open_.back()];
  step.seconds = std::max(0.0, elapsed - (last_->overhead_s + step.seconds));
  look(module);
  step.calls_after = last_->calls;
  open_.pop_back();
  started_.pop_back();
}

std::string change_text(const OriginChange& change) {
  constexpr size_t kShown = 8;
  std::string text = kind_text(change.kind);
  text.resize(9, ' ');
  const bool own =
      change.kind == ChangeKind::kAdded || (change.kind == ChangeKind::kRemoved && !change.reason.empty());
  if (own) text += list_text(change.kind == ChangeKind::kAdded ? change.after : change.before) + " for ";
  for (size_t i = 0; i < std::min(change.origins.size(), kShown); ++i)
    text += (i ? ", " : "") + origin_label(*change.origins[i]);
  if (change.origins.size() > kShown)
    text += ", and " + std::to_string(change.origins.size() - kShown) + " more";
  if (!change.reason.empty()) return text + ": " + change.reason;
  text += ": ";
  if (!change.before.empty()) text += list_text(change.before) + " -> ";
  return text + (change.after.empty() ? "nothing" : list_text(change.after));
}

std::string trace_text(const std::vector<PassStep>& steps, bool all) {
  std::string text;
  // A pass without changes is shown when a pass nested in it has some.
  std::vector<bool> shown(steps.size());
  for (size_t i = steps.size(); i-- > 0;) {
    shown[i] = all || !steps[i].changes.empty();
    for (size_t j = i + 1; !shown[i] && j < steps.size() && steps[j].depth > steps[i].depth; ++j)
      shown[i] = shown[j];
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    if (!shown[i]) continue;
    const PassStep& step = steps[i];
    char line[160];
    std::snprintf(line, sizeof line, "  %.3f ms, %d -> %d calls", step.seconds * 1e3, step.calls_before,
                  step.calls_after);
    const std::string indent(static_cast<size_t>(step.depth) * 2, ' ');
    text += indent + step.pass + line + "\n";
    for (const OriginChange& change : step.changes) text += indent + "  " + change_text(change) + "\n";
  }
  return text;
}

}  // namespace baton
