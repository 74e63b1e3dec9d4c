#include "baton/ir/op.h"

#include <algorithm>
#include <map>

namespace baton {

namespace {

struct Table {
  std::vector<const OpDef*> sorted;
  std::map<std::string, Expr, std::less<>> exprs;
};

Table& table() {
  static Table table;
  return table;
}

}  // namespace

void register_ops(const std::vector<const OpDef*>& ops) {
  for (const OpDef* op : ops) {
    const bool fresh = table().exprs.emplace(op->name, make_ref<const OpNode>(op)).second;
    BATON_CHECK(fresh, "operator " + op->name + " is registered twice");
    table().sorted.push_back(op);
  }
  std::sort(table().sorted.begin(), table().sorted.end(),
            [](const auto* a, const auto* b) { return a->name < b->name; });
}

const OpDef* find_op(std::string_view name) {
  const auto at = table().exprs.find(name);
  return at == table().exprs.end() ? nullptr : &static_cast<const OpNode*>(at->second.get())->def();
}

const std::vector<const OpDef*>& all_ops() { return table().sorted; }

Expr op_expr(const OpDef& op) {
  const auto at = table().exprs.find(op.name);
  BATON_CHECK(at != table().exprs.end(), "operator " + op.name + " is not registered");
  return at->second;
}

bool is_call(const Expr& expr, std::string_view op) {
  const auto* call = as<CallNode>(expr);
  const OpDef* def = call ? call->op() : nullptr;
  return def && def->name == op;
}

}  // namespace baton
