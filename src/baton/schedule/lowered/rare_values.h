#pragma once
// Values that nearly no element needs (ops/math.h: unless_rare()), computed for vectors that have such an
// element.

#include <Halide.h>

namespace baton {

/// Makes a branch of each unless_rare(), or a choice between both values where `branches` is false: threads
/// of a GPU are single elements, and choose so by themselves. A custom lowering pass; code cannot be
/// generated without it.
class RareValuesPass final : public Halide::Internal::IRMutator {
 public:
  explicit RareValuesPass(bool branches) : branches_(branches) {}

 private:
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Call* node) override;

  const bool branches_;
  int count_ = 0;  ///< of branches made: names are those of the kernel, not of the process
};

}  // namespace baton
