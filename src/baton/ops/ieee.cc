#include "baton/ops/ieee.h"

#include <limits>

namespace baton {

namespace {

thread_local bool fused_multiply_add = false;

class RoundProducts final : public Halide::Internal::IRMutator {
 private:
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Mul* node) override {
    const Halide::Expr product = IRMutator::visit(node);
    const Halide::Type type = product.type();
    if (!type.is_float() || type.bits() < 32) return product;
    // A comparison between the product and the sum is what LLVM does not see through; to it, strict
    // arithmetic in this kernel may be contracted (codegen/kernel/contraction.h).
    const double most = type.bits() == 64 ? std::numeric_limits<double>::max()
                                          : static_cast<double>(std::numeric_limits<float>::max());
    return ieee_minimum(product, Halide::Internal::make_const(type, most));
  }
};

}  // namespace

FusedMultiplyAdd::FusedMultiplyAdd(bool used) : outer_(fused_multiply_add) { fused_multiply_add = used; }
FusedMultiplyAdd::~FusedMultiplyAdd() { fused_multiply_add = outer_; }
bool FusedMultiplyAdd::is_used() { return fused_multiply_add; }

Halide::Expr to_odd_float(const Halide::Expr& value) {
  const Halide::Expr near = Halide::cast<float>(value), back = Halide::cast<double>(near);
  const Halide::Expr bits = Halide::reinterpret<uint32_t>(near);
  // Away from 0 by one unit where the rounding went there; then odd. Infinity becomes the largest number.
  const Halide::Expr toward_zero = select(abs(back) > abs(value), bits - 1, bits);
  return select(back == value || value != value, near,
                Halide::reinterpret<float>(toward_zero | Halide::Expr(uint32_t{1})));
}

Halide::Expr rounded_products(const Halide::Expr& value) { return RoundProducts().mutate(value); }

}  // namespace baton
