#include "baton/ir/op.h"

#include <algorithm>
#include <map>

#include "baton/ir/origin_scope.h"

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

OpRules::OpRules() = default;
OpRules::OpRules(const OpRules&) = default;
OpRules::OpRules(OpRules&&) noexcept = default;
OpRules& OpRules::operator=(const OpRules&) = default;
OpRules& OpRules::operator=(OpRules&&) noexcept = default;
OpRules::~OpRules() = default;

void OpRules::add(const void* key, Ref<const RefCounted> rule) { rules_.emplace_back(key, std::move(rule)); }

const RefCounted* OpRules::find(const void* key) const {
  for (const auto& [at, rule] : rules_)
    if (at == key) return rule.get();
  return nullptr;
}

OpDef::OpDef() = default;
OpDef::OpDef(const OpDef&) = default;
OpDef::OpDef(OpDef&&) noexcept = default;
OpDef& OpDef::operator=(const OpDef&) = default;
OpDef& OpDef::operator=(OpDef&&) noexcept = default;
OpDef::~OpDef() = default;

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

const std::string& OpNode::name() const { return def_->name; }

Call call_expr(Expr callee, std::vector<Expr> args, Attrs attrs, Span span) {
  const auto* op = as<OpNode>(callee);
  OriginSet origins = OriginScope::current_or_none();
  if (op && !attrs && op->def().attrs) attrs = op->def().attrs->make();
  if (op && !OriginScope::current())
    origins = OriginSet::of(Origin::create(op->name(), attrs, span, {}, current_module()));
  return make_call(std::move(callee), std::move(args), std::move(attrs),
                   NodeInfo(std::move(origins), std::move(span)));
}

Call call(std::string_view op, std::vector<Expr> args, Attrs attrs, Span span) {
  const OpDef* def = find_op(op);
  BATON_CHECK(def, "no operator " + std::string(op));
  return call_expr(op_expr(*def), std::move(args), std::move(attrs), std::move(span));
}

bool is_call(const Expr& expr, std::string_view op) {
  const auto* call = as<CallNode>(expr);
  const OpDef* def = call ? call->op() : nullptr;
  return def && def->name == op;
}

}  // namespace baton
