#pragma once
// A rewriter that replaces the representation of tensors wherever they occur: by pairs with adjoints, or by
// grad cells. Tuples, references, data types and functions keep their structure.
#include "baton/pass/rewriter.h"

namespace baton {

class TensorRewriter : public Rewriter {
 protected:
  virtual Expr rewrite_constant(const Expr& constant) = 0;
  virtual Expr rewrite_function(const FunctionNode& original, const Expr& rebuilt) = 0;
  virtual Expr rewrite_call(const CallNode& original, const Expr& rebuilt) = 0;
  virtual Expr rewrite_global(const Expr& global) { return global; }
  /// The plain tensor of type `type` in its changed representation; needed for if conditions.
  virtual Expr tensor_in(const Expr& changed, const Type& type) const = 0;

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) final;
};

}  // namespace baton
