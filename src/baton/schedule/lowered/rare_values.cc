#include "baton/schedule/lowered/rare_values.h"

#include <string>

#include "baton/ops/math.h"

namespace baton {

namespace hi = Halide::Internal;

namespace {

Halide::Expr named(const std::string& name, const Halide::Expr& value, const Halide::Expr& body) {
  return hi::Let::make(name, value, body);
}

}  // namespace

Halide::Expr RareValuesPass::visit(const hi::Call* node) {
  const Halide::Expr same = IRMutator::visit(node);
  if (node->name != kRareValues) return same;
  const std::vector<Halide::Expr>& args = same.as<hi::Call>()->args;
  const Halide::Expr &is_rare = args[0], &other = args[1], &usual = args[2];
  const Halide::Type type = usual.type();
  if (!branches_) return Halide::select(is_rare, other, usual);
  // Before the branch, so that it is there once.
  const std::string rare_name = hi::unique_name("is_rare"), usual_name = hi::unique_name("usual");
  const Halide::Expr rare = hi::Variable::make(is_rare.type(), rare_name),
                     value = hi::Variable::make(type, usual_name);
  const Halide::Expr any =
      is_rare.type().is_scalar() ? rare : hi::VectorReduce::make(hi::VectorReduce::Or, rare, 1);
  const Halide::Expr chosen = is_rare.type().is_scalar() ? other : Halide::select(rare, other, value);
  const Halide::Expr branch =
      hi::Call::make(type, hi::Call::if_then_else, {any, chosen, value}, hi::Call::PureIntrinsic);
  return named(rare_name, is_rare, named(usual_name, usual, branch));
}

}  // namespace baton
