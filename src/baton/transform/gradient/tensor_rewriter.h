#pragma once
// Rewriting programs so that tensors become something else wherever they are held: pairs with their adjoints,
// grad cells. Tuples, cells, data types and functions stay what they are, of other things.
#include "baton/pass/rewriter.h"

namespace baton {

class TensorRewriter : public Rewriter {
 protected:
  virtual Expr rewrite_constant(const Expr& constant) = 0;
  virtual Expr rewrite_function(const FunctionNode& original, const Expr& rebuilt) = 0;
  virtual Expr rewrite_call(const CallNode& original, const Expr& rebuilt) = 0;
  virtual Expr rewrite_global(const Expr& global) { return global; }
  /// The tensor of type `type` in what it became: ifs ask for it.
  virtual Expr tensor_in(const Expr& changed, const Type& type) const = 0;

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) final;
};

}  // namespace baton
