#include "baton/codegen/kernel/zero_divisors.h"

#include <cmath>
#include <limits>
#include <optional>

namespace baton {

namespace hi = Halide::Internal;

// Divisions of strict kernels are calls until code is generated.
Halide::Expr ZeroDivisors::visit(const hi::Call* node) {
  const Halide::Expr same = IRMutator::visit(node);
  if (!node->is_intrinsic(hi::Call::strict_div)) return same;
  const auto* division = same.as<hi::Call>();
  const Halide::Expr& divisor = division->args[1];
  const std::optional<double> value = hi::as_const_float(divisor);
  if (!value || *value != 0) return same;
  const double infinity = std::copysign(std::numeric_limits<double>::infinity(), *value);
  return hi::Call::make(division->type, hi::Call::strict_mul,
                        {division->args[0], hi::make_const(divisor.type(), infinity)},
                        hi::Call::PureIntrinsic);
}

}  // namespace baton
