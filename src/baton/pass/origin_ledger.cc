#include "baton/pass/origin_ledger.h"

#include <algorithm>

#include "baton/ir/visit.h"
#include "baton/support/pointer_map.h"

namespace baton {

OriginIds::OriginIds(const OriginTable& table) : table_(table) {
  if (table.size() == 0) return;
  uint64_t first = UINT64_MAX, last = 0;
  for (size_t id = 0; id < table.size(); ++id) {
    const uint64_t serial = table.at(OriginId(id)).serial();
    first = std::min(first, serial);
    last = std::max(last, serial);
  }
  // The origins of one module usually have dense serial numbers; when they are sparse, the table's own map is
  // used.
  if (last - first >= 4 * table.size() + 1024) return;
  first_ = first;
  ids_.assign(last - first + 1, kNone);
  for (size_t id = 0; id < table.size(); ++id)
    ids_[table.at(OriginId(id)).serial() - first] = static_cast<uint32_t>(id);
}

std::optional<uint32_t> OriginIds::find_slowly(const Origin* origin) const {
  if (!ids_.empty()) return std::nullopt;
  const auto id = table_.find(origin);
  return id ? std::optional<uint32_t>(index(*id)) : std::nullopt;
}

namespace {

bool extends(const OriginTable& table, const OriginTable& base) {
  if (table.size() < base.size()) return false;
  for (size_t id = 0; id < base.size() && !table.shares_origins_with(base); ++id)
    if (&table.at(OriginId(id)) != &base.at(OriginId(id))) return false;
  if (&table.all_retired() == &base.all_retired()) return true;
  for (const auto& [id, why] : base.all_retired())
    if (!table.retired(OriginId(id))) return false;
  return true;
}

// `base` followed by the entries that only `other` has.
OriginTable joined(const OriginTable& base, const OriginTable& other) {
  OriginTable table = base;
  for (size_t id = 0; id < other.size(); ++id) {
    const OriginId at = table.add(Ref<const Origin>(&other.at(OriginId(id))));
    const Retired* why = other.retired(OriginId(id));
    if (why && !table.retired(at)) table.retire(at, *why);
  }
  return table;
}

std::vector<bool> carried_origins(const IRModuleNode& module, const OriginIds& ids) {
  std::vector<bool> carried(ids.size());
  PointerSet seen;
  std::vector<const ExprNode*> todo;
  for (const auto& [name, function] : module.functions()) todo.push_back(function.get());
  while (!todo.empty()) {
    const ExprNode* node = todo.back();
    todo.pop_back();
    // A node with a single reference is reached once.
    if (node->use_count() > 1 && !seen.insert(node)) continue;
    for (const Origin* origin : node->origins().origins())
      if (const auto id = ids.find(origin)) carried[*id] = true;
    for_each_child(*node, [&](const Expr& child) { todo.push_back(child.get()); });
  }
  return carried;
}

}  // namespace

void enter_in_ledger(const IRModuleNode& before, IRModuleNode& result, const RetireLog& log,
                     const std::string& pass) {
  if (&before != &result && !extends(result.origins(), before.origins()))
    result.origins() = joined(before.origins(), result.origins());
  if (log.entries().empty()) return;
  const OriginIds ids(result.origins());
  const std::vector<bool> carried = carried_origins(result, ids);
  for (const RetireLog::Entry& entry : log.entries()) {
    for (const Origin* origin : entry.origins.origins()) {
      const auto id = ids.find(origin);
      if (id && !carried[*id] && !result.origins().retired(OriginId(*id)))
        result.origins().retire(OriginId(*id), {pass, entry.reason});
    }
  }
}

}  // namespace baton
