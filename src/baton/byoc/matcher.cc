#include "baton/byoc/matcher.h"

#include <algorithm>

#include "baton/byoc/typed_expr.h"
#include "baton/ir/adt.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/algebra.h"
#include "baton/ir/structural.h"
#include "baton/ir/visit.h"
#include "baton/support/error.h"

namespace baton {

namespace {

using Form = DFPatternKind;

const OpDef* op_of(const DFPattern& pattern) {
  const auto* op = pattern->kind() == Form::kExpr ? as<OpNode>(pattern->expr()) : nullptr;
  return op ? &op->def() : nullptr;
}

std::optional<Arithmetic> arithmetic_of(const OpDef* op) {
  const auto* arithmetic = op ? op->rules.get<Arithmetic>() : nullptr;
  return arithmetic ? std::optional(*arithmetic) : std::nullopt;
}

/// The arithmetic that a binary call pattern computes, if any.
std::optional<Arithmetic> arithmetic_of(const DFPatternNode& pattern) {
  if (pattern.kind() != Form::kCall || pattern.open() || pattern.parts().size() != 3) return std::nullopt;
  return arithmetic_of(op_of(pattern.parts()[0]));
}

bool commutes(const DFPattern& callee) {
  const auto arithmetic = arithmetic_of(op_of(callee));
  return arithmetic == Arithmetic::kSum || arithmetic == Arithmetic::kProduct;
}

// Collects the operators that `callee` can match. False when unbounded.
bool callee_ops(const DFPattern& callee, std::vector<const OpDef*>& ops) {
  if (callee->kind() == Form::kAlt)
    return callee_ops(callee->parts()[0], ops) && callee_ops(callee->parts()[1], ops);
  if (callee->kind() == Form::kAttr) return callee_ops(callee->parts()[0], ops);
  const OpDef* op = op_of(callee);
  if (op) ops.push_back(op);
  return op != nullptr;
}

// Collects the operators that the root of a match of `pattern` can call. False when it may be another kind of
// node, or call anything.
bool root_ops(const DFPattern& pattern, std::vector<const OpDef*>& ops) {
  const std::vector<DFPattern>& parts = pattern->parts();
  switch (pattern->kind()) {
    case Form::kCall: {
      const auto arithmetic = arithmetic_of(*pattern);
      if (arithmetic == Arithmetic::kProduct) ops.push_back(find_op("divide"));
      if (arithmetic == Arithmetic::kQuotient) ops.push_back(find_op("multiply"));
      return callee_ops(parts[0], ops);
    }
    case Form::kAlt:
      return root_ops(parts[0], ops) && root_ops(parts[1], ops);
    case Form::kAttr:
    case Form::kType:
    case Form::kShape:
    case Form::kDataType:
      return root_ops(parts[0], ops);
    case Form::kDominator:
      return root_ops(parts[2], ops);
    case Form::kWildcard:
    case Form::kVar:
    case Form::kConstant:
    case Form::kExpr:
    case Form::kFunction:
    case Form::kLet:
    case Form::kIf:
    case Form::kTuple:
    case Form::kTupleGetItem:
      return false;
  }
  return false;
}

// Numbers of all types compare by value; a dtype equals its name.
bool same_value(const AttrValue& a, const AttrValue& b) {
  const auto number = [](const AttrValue& value) -> std::optional<double> {
    if (const bool* flag = value.as<bool>()) return *flag;
    if (const int64_t* integer = value.as<int64_t>()) return static_cast<double>(*integer);
    if (const double* real = value.as<double>()) return *real;
    return std::nullopt;
  };
  const auto text = [](const AttrValue& value) -> std::optional<std::string> {
    if (const std::string* given = value.as<std::string>()) return *given;
    if (const DType* dtype = value.as<DType>()) return dtype->str();
    return std::nullopt;
  };
  if (const auto x = number(a), y = number(b); x && y) return *x == *y;
  if (const auto x = text(a), y = text(b); x && y) return *x == *y;
  if (const AttrList* list = a.as<AttrList>()) {
    const AttrList* other = b.as<AttrList>();
    return other && std::equal(list->begin(), list->end(), other->begin(), other->end(), same_value);
  }
  return static_cast<const AttrValue::Base&>(a) == static_cast<const AttrValue::Base&>(b);
}

// The operator attributes that TVM defines.
std::optional<AttrValue> op_attr(const OpDef& op, const std::string& name) {
  if (name == "TOpPattern") return AttrValue(static_cast<int64_t>(op.fuse));
  if (name == "TNonComputational") return AttrValue(op.non_computational);
  if (name == "TOpIsStateful") return AttrValue(op.stateful);
  if (name == "TReshapeOp") return AttrValue(op.reshape_only);
  return std::nullopt;
}

bool has_attrs(const DFPatternNode& pattern, const Expr& expr) {
  const auto all = [&](auto&& value_of) {
    return std::all_of(pattern.attrs().begin(), pattern.attrs().end(), [&](const auto& wanted) {
      const std::optional<AttrValue> value = value_of(wanted.first);
      return value && same_value(*value, wanted.second);
    });
  };
  if (const auto* op = as<OpNode>(expr))
    return all([&](const std::string& name) { return op_attr(op->def(), name); });
  if (const auto* call = as<CallNode>(expr)) {
    return all([&](const std::string& name) -> std::optional<AttrValue> {
      if (!call->attrs() || !call->attrs()->schema().find(name)) return std::nullopt;
      return call->attrs()->get(name);
    });
  }
  if (const auto* function = as<FunctionNode>(expr)) {
    return all([&](const std::string& name) -> std::optional<AttrValue> {
      const AttrValue* value = function->attr(name);
      return value ? std::optional(*value) : std::nullopt;
    });
  }
  return false;
}

}  // namespace

size_t DFMatches::index_of(const DFPattern& pattern) const {
  if (all_.size() > kFew) {
    const size_t* at = at_.find(pattern.get());
    return at ? *at : all_.size();
  }
  const auto at = std::ranges::find(all_, pattern, &std::pair<DFPattern, std::vector<Expr>>::first);
  return static_cast<size_t>(at - all_.begin());
}

std::span<const Expr> DFMatches::of(const DFPattern& pattern) const {
  const size_t at = index_of(pattern);
  return at < all_.size() ? std::span<const Expr>(all_[at].second) : std::span<const Expr>();
}

void DFMatches::add(const DFPattern& pattern, const Expr& expr) {
  const size_t at = index_of(pattern);
  if (at == all_.size()) {
    all_.emplace_back(pattern, std::vector<Expr>());
    if (all_.size() == kFew + 1)
      for (size_t i = 0; i < all_.size(); ++i) at_.insert(all_[i].first.get(), i);
    else if (all_.size() > kFew)
      at_.insert(pattern.get(), at);
  }
  all_[at].second.push_back(expr);
}

DFMatcher::DFMatcher(DFPattern pattern, const DataflowGraph* graph)
    : pattern_(std::move(pattern)), graph_(graph) {
  BATON_CHECK(graph_ || !needs_graph(pattern_), "a dominator is matched without a graph");
  any_root_ = !root_ops(pattern_, root_ops_);
}

bool DFMatcher::needs_graph(const DFPattern& pattern) {
  const std::vector<DFPattern> parts = parts_in_order(pattern);
  return std::any_of(parts.begin(), parts.end(),
                     [](const DFPattern& part) { return part->kind() == Form::kDominator; });
}

bool DFMatcher::match(const Expr& expr) {
  forget_since(0);
  if (!any_root_) {
    const auto* call = as<CallNode>(expr);
    if (!call || std::find(root_ops_.begin(), root_ops_.end(), call->op()) == root_ops_.end()) return false;
  }
  return visit(pattern_, expr);
}

DFMatches DFMatcher::matches() const {
  DFMatches matches;
  for (const Met& met : met_) matches.add(met.pattern, met.expr);
  return matches;
}

const ExprNode*& DFMatcher::bound(const DFPattern& pattern) {
  const uint32_t number = numbers_.add(pattern.get()).first;
  if (number >= bound_.size()) bound_.resize(number + 1);
  return bound_[number];
}

void DFMatcher::forget_since(size_t mark) {
  for (; met_.size() > mark; met_.pop_back())
    if (!met_.back().repeated) bound(met_.back().pattern) = nullptr;
}

// Recursion is bounded by the depth of the pattern.
bool DFMatcher::visit(const DFPattern& pattern, const Expr& expr) {
  if (const ExprNode* met = bound(pattern)) return met == expr.get();
  const size_t mark = met_.size();
  if (!visit_anew(*pattern, expr)) {
    forget_since(mark);
    return false;
  }
  bound(pattern) = expr.get();
  met_.push_back({pattern, expr});
  return true;
}

bool DFMatcher::visit_anew(const DFPatternNode& pattern, const Expr& expr) {
  const std::vector<DFPattern>& parts = pattern.parts();
  switch (pattern.kind()) {
    case Form::kWildcard:
      return true;
    case Form::kVar: {
      const auto* var = as<VarNode>(expr);
      return var && (pattern.name().empty() || pattern.name() == var->name());
    }
    case Form::kConstant:
      return as<ConstantNode>(expr) != nullptr;
    case Form::kExpr:
      if (pattern.expr() == expr) return true;
      return pattern.expr()->kind() != ExprKind::kOp && structural_equal(pattern.expr(), expr);
    case Form::kCall:
      return visit_call(pattern, expr);
    case Form::kFunction: {
      const auto* function = as<FunctionNode>(expr);
      if (!function) return false;
      const std::vector<Expr> params(function->params().begin(), function->params().end());
      if (!pattern.open() && !visit_all(std::span(parts).first(parts.size() - 1), params)) return false;
      return visit(parts.back(), function->body());
    }
    case Form::kLet: {
      const auto* let = as<LetNode>(expr);
      return let && visit(parts[0], Expr(let->var())) && visit(parts[1], let->value()) &&
             visit(parts[2], let->body());
    }
    case Form::kIf: {
      const auto* branch = as<IfNode>(expr);
      return branch && visit(parts[0], branch->condition()) && visit(parts[1], branch->then()) &&
             visit(parts[2], branch->otherwise());
    }
    case Form::kTuple: {
      const auto* tuple = as<TupleNode>(expr);
      return tuple && (pattern.open() || visit_all(parts, tuple->fields()));
    }
    case Form::kTupleGetItem: {
      const auto* item = as<TupleGetItemNode>(expr);
      return item && (pattern.index() < 0 || pattern.index() == item->index()) &&
             visit(parts[0], item->tuple());
    }
    case Form::kAlt:
      return visit(parts[0], expr) || visit(parts[1], expr);
    case Form::kType:
      return visit(parts[0], expr) && same_type(pattern.type(), type_of(expr));
    case Form::kShape: {
      if (!visit(parts[0], expr)) return false;
      const Type type = type_of(expr);
      const auto* tensor = as_type<TensorTypeNode>(type);
      return tensor && tensor->shape() == pattern.shape();
    }
    case Form::kDataType: {
      if (!visit(parts[0], expr)) return false;
      const Type type = type_of(expr);
      const auto* tensor = as_type<TensorTypeNode>(type);
      return tensor && tensor->dtype() == pattern.dtype();
    }
    case Form::kAttr:
      return visit(parts[0], expr) && has_attrs(pattern, expr);
    case Form::kDominator:
      return visit_dominator(pattern, expr);
  }
  return false;
}

bool DFMatcher::visit_all(std::span<const DFPattern> patterns, std::span<const Expr> exprs) {
  if (patterns.size() != exprs.size()) return false;
  for (size_t i = 0; i < patterns.size(); ++i)
    if (!visit(patterns[i], exprs[i])) return false;
  return true;
}

bool DFMatcher::visit_call(const DFPatternNode& pattern, const Expr& expr) {
  const auto* call = as<CallNode>(expr);
  if (!call) return false;
  const size_t mark = met_.size();
  const DFPattern& callee = pattern.parts()[0];
  if (visit(callee, call->callee())) {
    if (pattern.open()) return true;
    const auto args = std::span(pattern.parts()).subspan(1);
    const size_t before_args = met_.size();
    if (visit_all(args, call->args())) return true;
    forget_since(before_args);
    if (!commutes(callee)) return false;
    return visit_all(args, std::vector<Expr>(call->args().rbegin(), call->args().rend()));
  }
  forget_since(mark);
  return visit_regrouped(pattern, *call);
}

// (a * b) / c also matches (a / c) * b and a * (b / c), and (a / b) * c matches (a * c) / b.
bool DFMatcher::visit_regrouped(const DFPatternNode& pattern, const CallNode& call) {
  const auto outer = arithmetic_of(pattern);
  if (outer != Arithmetic::kProduct && outer != Arithmetic::kQuotient) return false;
  const Arithmetic inner = outer == Arithmetic::kProduct ? Arithmetic::kQuotient : Arithmetic::kProduct;
  if (arithmetic_of(call.op()) != inner) return false;
  auto [forms, fresh] = regrouped_.insert(&pattern, {});
  if (fresh) {
    const DFPattern& op = pattern.parts()[0];
    for (size_t i = 1; i <= (outer == Arithmetic::kProduct ? 2u : 1u); ++i) {
      const DFPattern& nested = pattern.parts()[i];
      if (arithmetic_of(*nested) != inner) continue;
      const DFPattern &other = pattern.parts()[3 - i], &a = nested->parts()[1], &b = nested->parts()[2],
                      &inner_op = nested->parts()[0];
      if (outer == Arithmetic::kQuotient) {
        forms->push_back(inner_op->call({b, op->call({a, other})}));
        forms->push_back(inner_op->call({a, op->call({b, other})}));
      } else {
        forms->push_back(inner_op->call({op->call({a, other}), b}));
      }
    }
  }
  const std::vector<DFPattern> ways = *forms;
  const size_t mark = met_.size();
  for (const DFPattern& way : ways) {
    // Not by visit(), which would recurse into this function, and the regrouped form is not one of the user's
    // patterns.
    if (visit(way->parts()[0], call.callee())) {
      const auto args = std::span(way->parts()).subspan(1);
      const size_t before_args = met_.size();
      if (visit_all(args, call.args())) return true;
      forget_since(before_args);
      if (commutes(way->parts()[0]) &&
          visit_all(args, std::vector<Expr>(call.args().rbegin(), call.args().rend())))
        return true;
    }
    forget_since(mark);
  }
  return false;
}

bool DFMatcher::visit_dominator(const DFPatternNode& pattern, const Expr& expr) {
  return visit(pattern.parts()[2], expr) && dominates_region(pattern, expr);
}

// Backwards from the child: each input is the parent, or matches the path and is followed, or is a leaf
// entering the path. Each node on the path must have an input that leads to the parent.
bool DFMatcher::dominates_region(const DFPatternNode& pattern, const Expr& child) {
  const DFPattern &parent = pattern.parts()[0], &path = pattern.parts()[1];
  PointerSet region;
  std::vector<Expr> between, todo{child};
  region.insert(child.get());
  Expr found;
  while (!todo.empty()) {
    const Expr at = todo.back();
    todo.pop_back();
    const auto* call = as<CallNode>(at);
    const auto* function = as<FunctionNode>(at);  // its result is what it is made of, not its parameters
    bool leads_on = false, matches = true;
    for_each_child(*at, [&](const Expr& input) {
      if (!matches || (call && input == call->callee()) || (function && input != function->body())) return;
      if (region.contains(input.get())) {
        leads_on = true;
        return;
      }
      const size_t mark = met_.size();
      if (visit(parent, input)) {
        found = input;
      } else if (visit(path, input)) {
        for (size_t i = mark; i < met_.size(); ++i) {
          if (!met_[i].repeated) bound(met_[i].pattern) = nullptr;
          met_[i].repeated = true;
        }
        todo.push_back(input);
      } else {
        const ExprKind kind = input->kind();
        matches = kind == ExprKind::kVar || kind == ExprKind::kConstant || kind == ExprKind::kGlobalVar;
        return;
      }
      leads_on = true;
      region.insert(input.get());
      between.push_back(input);
    });
    if (!matches || !leads_on) return false;
  }
  if (!found) return false;
  // Nothing in between is used outside: all paths from the parent lead to the child.
  for (const Expr& inner : between)
    for (uint32_t user : graph_->users(graph_->number_of(inner.get())))
      if (!region.contains((*graph_)[user].get())) return false;
  return true;
}

Type DFMatcher::type_of(const Expr& expr) {
  if (expr->checked_type()) return expr->checked_type();
  if (const Type* known = types_.find(expr.get())) return *known;
  const Type type = typed_expr(expr, nullptr)->checked_type();
  types_.insert(expr.get(), type);
  kept_.push_back(expr);
  return type;
}

bool dataflow_match(const DFPattern& pattern, const Expr& expr) {
  if (!DFMatcher::needs_graph(pattern)) return DFMatcher(pattern, nullptr).match(expr);
  const DataflowGraph graph(expr);
  return DFMatcher(pattern, &graph).match(expr);
}

}  // namespace baton
