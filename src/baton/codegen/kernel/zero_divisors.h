#pragma once
// Divisions of floats by a zero that is known at compile time: Halide's code generator refuses them.

#include <Halide.h>

namespace baton {

/// Multiplies by an infinity of the zero's sign instead, which gives the same for every number, infinity and
/// NaN. A custom lowering pass.
class ZeroDivisors final : public Halide::Internal::IRMutator {
 private:
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Call* node) override;
};

}  // namespace baton
