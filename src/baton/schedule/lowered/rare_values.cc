#include "baton/schedule/lowered/rare_values.h"

#include <string>

#include "baton/ops/math.h"

namespace baton {

namespace hi = Halide::Internal;

Halide::Expr RareValuesPass::visit(const hi::Call* node) {
  const Halide::Expr same = IRMutator::visit(node);
  if (node->name != kRareValues) return same;
  const std::vector<Halide::Expr>& args = same.as<hi::Call>()->args;
  const Halide::Expr &is_rare = args[0], &other = args[1], &usual = args[2];
  const Halide::Type type = usual.type();
  if (!branches_) return Halide::select(is_rare, other, usual);
  // Before the branch, so that it is there once.
  const std::string number = std::to_string(count_++), rare_name = "is_rare" + number,
                    usual_name = "usual" + number;
  const Halide::Expr rare = hi::Variable::make(is_rare.type(), rare_name),
                     value = hi::Variable::make(type, usual_name);
  const bool scalar = is_rare.type().is_scalar();
  const Halide::Expr any = scalar ? rare : hi::VectorReduce::make(hi::VectorReduce::Or, rare, 1);
  const Halide::Expr chosen = scalar ? other : Halide::select(rare, other, value);
  const Halide::Expr branch =
      hi::Call::make(type, hi::Call::if_then_else, {any, chosen, value}, hi::Call::PureIntrinsic);
  return hi::Let::make(rare_name, is_rare, hi::Let::make(usual_name, usual, branch));
}

}  // namespace baton
