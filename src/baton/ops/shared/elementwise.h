#pragma once
// How the elementwise families are written: one function from scalars to a scalar per operator.
#include <string>

#include "baton/ops/compute_util.h"
#include "baton/ops/op_spec.h"

namespace baton {

using Unary = Halide::Expr (*)(Halide::Expr);
using Binary = Halide::Expr (*)(Halide::Expr, Halide::Expr);
/// `.test_shapes` of a block; without any, those of the family.
using Texts = std::vector<const char*>;

/// result[i] = f(input 0 [i]); a stage called `stage`.
template <class F>
void map_compute(Compute& c, const std::string& stage, F&& f) {
  const Axes i(c.out().rank());
  Halide::Func mapped = c.stage(stage);
  mapped(i.reversed()) = cast_to(c.out().dtype(), f(c.in(0)(i.exprs())));
  c.result(mapped);
}

/// An operator of one input, whose result has the input's type.
OpDef unary_op(const char* name, const char* doc, Unary f, OpRules rules = {}, Texts test_shapes = {});
/// The same for functions of real numbers: f sees float32 or float64, whatever the element type is.
OpDef real_op(const char* name, const char* doc, Unary f, OpRules rules = {}, Texts test_shapes = {});
/// An operator of one input, whose result is bool.
OpDef predicate_op(const char* name, const char* doc, Unary f, Texts test_shapes = {});
/// An operator of two inputs, broadcast.
OpDef binary_op(const char* name, const char* doc, Binary f, OpRules rules = {}, Texts test_shapes = {});
/// The same with a bool result.
OpDef compare_op(const char* name, const char* doc, Binary f, OpRules rules = {}, Texts test_shapes = {});

}  // namespace baton
