#include "baton/schedule/condition_cuts.h"

#include <algorithm>
#include <map>
#include <optional>

namespace baton {
namespace {

namespace hi = Halide::Internal;

/// Whether an expression has variables outside of calls.
class VariableFinder final : public hi::IRVisitor {
 public:
  bool found = false;

 private:
  using IRVisitor::visit;
  void visit(const hi::Call*) override {}
  void visit(const hi::Variable*) override { found = true; }
};

/// Whether there are conditions on indices.
class ConditionFinder final : public hi::IRGraphVisitor {
 public:
  bool found = false;

 private:
  using IRGraphVisitor::visit;
  void visit(const hi::Select* select) override {
    VariableFinder variables;
    select->condition.accept(&variables);
    found = found || variables.found;
    IRGraphVisitor::visit(select);
  }
};

/// constant + sum of factor * loop.
struct Linear {
  std::map<std::string, int64_t> factors;
  int64_t constant = 0;

  Linear plus(const Linear& other, int64_t times) const {
    Linear sum = *this;
    sum.constant += times * other.constant;
    for (const auto& [name, factor] : other.factors) sum.factors[name] += times * factor;
    return sum;
  }
};

std::optional<Linear> linear(const Halide::Expr& expr) {
  if (const auto value = hi::as_const_int(expr)) return Linear{{}, *value};
  if (const auto* variable = expr.as<hi::Variable>()) return Linear{{{variable->name, 1}}, 0};
  const auto both = [](const Halide::Expr& a, const Halide::Expr& b, int64_t times) -> std::optional<Linear> {
    const auto x = linear(a), y = linear(b);
    return x && y ? std::optional(x->plus(*y, times)) : std::nullopt;
  };
  if (const auto* add = expr.as<hi::Add>()) return both(add->a, add->b, 1);
  if (const auto* sub = expr.as<hi::Sub>()) return both(sub->a, sub->b, -1);
  if (const auto* mul = expr.as<hi::Mul>()) {
    const auto a = linear(mul->a), b = linear(mul->b);
    if (a && b && a->factors.empty()) return Linear().plus(*b, a->constant);
    if (a && b && b->factors.empty()) return Linear().plus(*a, b->constant);
  }
  return std::nullopt;
}

int64_t ceil_div(int64_t a, int64_t b) { return -hi::div_imp(-a, b); }

/// Where along each loop conditions become constant.
class CutFinder final : public hi::IRGraphVisitor {
 public:
  explicit CutFinder(const std::vector<LoopRange>& loops) : loops_(loops), cuts_(loops.size()) {}

  const std::vector<LoopCuts>& cuts() const { return cuts_; }

 private:
  using IRGraphVisitor::visit;
  void visit(const hi::Select* select) override {
    condition(select->condition);
    IRGraphVisitor::visit(select);
  }

  void condition(const Halide::Expr& expr) {
    const auto both = [this](const Halide::Expr& a, const Halide::Expr& b) { condition(a), condition(b); };
    if (const auto* node = expr.as<hi::And>()) return both(node->a, node->b);
    if (const auto* node = expr.as<hi::Or>()) return both(node->a, node->b);
    if (const auto* node = expr.as<hi::Not>()) return condition(node->a);
    if (const auto* node = expr.as<hi::GE>()) return at_least(node->a, node->b, 0);
    if (const auto* node = expr.as<hi::GT>()) return at_least(node->a, node->b, 1);
    if (const auto* node = expr.as<hi::LE>()) return at_least(node->b, node->a, 0);
    if (const auto* node = expr.as<hi::LT>()) return at_least(node->b, node->a, 1);
    if (const auto* node = expr.as<hi::EQ>()) return equal(node->a, node->b);
    if (const auto* node = expr.as<hi::NE>()) return equal(node->a, node->b);
  }

  void equal(const Halide::Expr& a, const Halide::Expr& b) { at_least(a, b, 0), at_least(a, b, 1); }

  /// The condition a - b >= least.
  void at_least(const Halide::Expr& a, const Halide::Expr& b, int64_t least) {
    if (a.type() != Halide::Int(32)) return;
    const auto x = linear(a), y = linear(b);
    if (!x || !y) return;
    const Linear difference = x->plus(*y, -1);
    for (size_t dim = 0; dim < loops_.size(); ++dim)
      if (!loops_[dim].is_symbolic()) cut(dim, difference, least);
  }

  void cut(size_t dim, const Linear& difference, int64_t least) {
    int64_t factor = 0, low = difference.constant - least, high = low;
    for (const auto& [name, times] : difference.factors) {
      if (name == loops_[dim].name) {
        factor = times;
        continue;
      }
      const auto loop = std::ranges::find(loops_, name, &LoopRange::name);
      if (loop == loops_.end() || loop->is_symbolic()) return;
      const int64_t first = times * loop->min, last = times * (loop->end() - 1);
      low += std::min(first, last), high += std::max(first, last);
    }
    if (factor == 0) return;
    // The condition is factor * loop + [low, high] >= 0. Upwards it is false before `never` and true from
    // `always` on; downwards the other way round.
    const int64_t first = factor > 0 ? ceil_div(-high, factor) : hi::div_imp(low, -factor) + 1;
    const int64_t second = factor > 0 ? ceil_div(-low, factor) : hi::div_imp(high, -factor) + 1;
    if (first == second) ++cuts_[dim].decided;
    for (const int64_t at : {first, second})
      if (at > loops_[dim].min && at < loops_[dim].end()) cuts_[dim].at.insert(static_cast<int>(at));
  }

  const std::vector<LoopRange>& loops_;
  std::vector<LoopCuts> cuts_;
};

}  // namespace

bool has_conditions(const Halide::Func& func) {
  ConditionFinder finder;
  func.value().accept(&finder);
  for (const auto& [name, each] : hi::find_transitive_calls(func.function()))
    for (const Halide::Expr& value : each.values()) value.accept(&finder);
  return finder.found;
}

std::vector<LoopCuts> condition_cuts(const Halide::Expr& value, const std::vector<LoopRange>& loops) {
  CutFinder finder(loops);
  value.accept(&finder);
  return finder.cuts();
}

}  // namespace baton
