#include "baton/schedule/read_padding.h"

#include <optional>
#include <string>
#include <vector>

#include "baton/schedule/regions.h"

namespace baton {
namespace {

namespace hi = Halide::Internal;

/// The axis of rows in Halide's order: (c, x, y, C, n).
constexpr size_t kRowAxis = 2;

/// The parts of a disjunction.
void split_or(const Halide::Expr& condition, std::vector<Halide::Expr>& parts) {
  if (const auto* both = condition.as<hi::Or>()) {
    split_or(both->a, parts);
    split_or(both->b, parts);
  } else {
    parts.push_back(condition);
  }
}

Halide::Expr either(const Halide::Expr& a, const Halide::Expr& b) { return a.defined() ? a || b : b; }

/// The padding of `pad` by axis; a condition is undefined where there is none.
struct PaddingParts {
  const hi::Select* choice;
  Halide::Expr outside_rows, outside_others;
};

std::optional<PaddingParts> padding_parts(const Halide::Func& pad) {
  if (pad.args().size() <= kRowAxis || pad.has_update_definition() || pad.values().size() != 1)
    return std::nullopt;
  PaddingParts found{pad.value().as<hi::Select>(), {}, {}};
  if (!found.choice || !hi::is_const_zero(found.choice->true_value)) return std::nullopt;
  std::vector<Halide::Expr> parts;
  split_or(found.choice->condition, parts);
  const std::string row = pad.args()[kRowAxis].name();
  for (const Halide::Expr& part : parts) {
    if (!hi::expr_uses_var(part, row)) {
      found.outside_others = either(found.outside_others, part);
      continue;
    }
    for (size_t axis = 0; axis < pad.args().size(); ++axis)
      if (axis != kRowAxis && hi::expr_uses_var(part, pad.args()[axis].name())) return std::nullopt;
    found.outside_rows = either(found.outside_rows, part);
  }
  return found;
}

/// The row that the update definition of `sum` reads; undefined unless there is one read.
Halide::Expr row_read(const Halide::Func& pad, const Halide::Func& sum) {
  const hi::Call* read = only_read(sum, pad);
  return read ? read->args[kRowAxis] : Halide::Expr();
}

/// Likely conditions on a variable are as good as others: the loop over it is not to be cut in three for
/// them.
class UnlikelyIn final : public hi::IRMutator {
 public:
  explicit UnlikelyIn(std::string var) : var_(std::move(var)) {}

 private:
  using IRMutator::visit;
  Halide::Expr visit(const hi::Call* call) override {
    if (call->is_intrinsic(hi::Call::likely) && call->args[0].type().is_int() &&
        hi::expr_uses_var(call->args[0], var_))
      return mutate(call->args[0]);
    return IRMutator::visit(call);
  }

  const std::string var_;
};

}  // namespace

bool can_skip_padding(const Halide::Func& pad, const Halide::Func& sum) {
  return padding_parts(pad).has_value() && row_read(pad, sum).defined();
}

void skip_padding(Halide::Func pad, Halide::Func sum) {
  const PaddingParts parts = *padding_parts(pad);
  const std::string row = pad.args()[kRowAxis].name();
  const Halide::Expr read = row_read(pad, sum);
  Halide::Expr value = UnlikelyIn(row).mutate(parts.choice->false_value);
  if (parts.outside_others.defined()) value = select(parts.outside_others, parts.choice->true_value, value);
  if (parts.outside_rows.defined()) {
    hi::Definition& step = sum.function().update(0);
    step.predicate() = step.predicate() && !hi::substitute(row, read, parts.outside_rows);
  }
  // In place: Halide lets nobody define anew what others use already.
  pad.function().definition().values() = {value};
}

}  // namespace baton
