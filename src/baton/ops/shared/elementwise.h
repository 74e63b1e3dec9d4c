#pragma once
// Builders for elementwise operators: one scalar function per operator.
#include <string>

#include "baton/ops/compute_util.h"
#include "baton/ops/op_spec.h"

namespace baton {

using Unary = Halide::Expr (*)(Halide::Expr);
using Binary = Halide::Expr (*)(Halide::Expr, Halide::Expr);
/// `.test_shapes` of a block; if empty, the default for the kind of operator.
using Texts = std::vector<const char*>;

/// result[i] = f(input 0 [i]); a stage called `stage`.
template <class F>
void map_compute(Compute& c, const std::string& stage, F&& f) {
  const Axes i(c.out().rank());
  Halide::Func mapped = c.stage(stage);
  mapped(i.reversed()) = cast_to(c.out().dtype(), f(c.in(0)(i.exprs())));
  c.result(mapped);
}

/// A unary operator; the result has the input's type.
OpDef unary_op(const char* name, const char* doc, Unary f, OpRules rules = {}, Texts test_shapes = {});
/// The same for functions of real numbers: f gets float32 or float64 for all element types.
OpDef real_op(const char* name, const char* doc, Unary f, OpRules rules = {}, Texts test_shapes = {});
/// A unary operator with a bool result.
OpDef predicate_op(const char* name, const char* doc, Unary f, Texts test_shapes = {});
/// A binary operator with broadcasting.
OpDef binary_op(const char* name, const char* doc, Binary f, OpRules rules = {}, Texts test_shapes = {});
/// The same with a bool result.
OpDef compare_op(const char* name, const char* doc, Binary f, OpRules rules = {}, Texts test_shapes = {});

}  // namespace baton
