// Tensors of one value.
#include "baton/ir/build.h"
#include "baton/ir/rules/algebra.h"
#include "baton/ops/compute_util.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/tensor/tensor_attrs.h"

namespace baton {

template <>
const AttrSchema& attr_schema<InitOpAttrs>() {
  using A = InitOpAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.InitOpAttrs",
                     {{"shape", &A::shape, "the shape of the result", kNoDefault},
                      {"dtype", &A::dtype, "the element type of the result; void: as the input"}});
  return schema;
}

namespace {

RelationStatus init_relation(RelationContext& ctx, const InitOpAttrs& attrs, DType dtype) {
  if (!attrs.shape) return fail_attr(ctx, "shape", "None", "a list of extents is needed");
  if (!check_least(ctx, "shape", *attrs.shape, 0)) return kFailed;
  if (dtype.is_void()) return fail_attr(ctx, "dtype", "\"\"", "an element type is needed");
  return ctx.assign_result(tensor_type(*attrs.shape, dtype));
}

void fill_compute(Compute& c, const char* stage, const Halide::Expr& value) {
  const Axes i(c.out().rank());
  Halide::Func filled = c.stage(stage);
  filled(i.reversed()) = cast_to(c.out().dtype(), value);
  c.result(filled);
}

Expr full_of_type(const CallNode& call, const TensorTypeNode& type) {
  return call_op("full", {call.args()[1]}, {{"shape", type.extents()}, {"dtype", type.dtype()}});
}

}  // namespace

const OpDef& op_zeros() {
  static const OpDef def = OpSpec<InitOpAttrs>{
      .name = "zeros",
      .doc = "A tensor of zeros.",
      .inputs = {},
      .fuse = Fuse::kElementwise,
      .relation = [](RelationContext& ctx,
                     const InitOpAttrs& attrs) { return init_relation(ctx, attrs, attrs.dtype); },
      .compute = [](Compute& c, const InitOpAttrs&) { fill_compute(c, "zeros", 0); },
      .rules = op_rules(no_gradient(), MixedPrecision::kFollow, FilledWith{0}),
      .test_shapes = {"shape=[2, 3], dtype=float32", "shape=[], dtype=int32"},
  };
  return def;
}

const OpDef& op_ones() {
  static const OpDef def = OpSpec<InitOpAttrs>{
      .name = "ones",
      .doc = "A tensor of ones.",
      .inputs = {},
      .fuse = Fuse::kElementwise,
      .relation = [](RelationContext& ctx,
                     const InitOpAttrs& attrs) { return init_relation(ctx, attrs, attrs.dtype); },
      .compute = [](Compute& c, const InitOpAttrs&) { fill_compute(c, "ones", 1); },
      .rules = op_rules(no_gradient(), FilledWith{1}),
      .test_shapes = {"shape=[3], dtype=bool", "shape=[2, 3], dtype=float32"},
  };
  return def;
}

const OpDef& op_full() {
  static const OpDef def = OpSpec<InitOpAttrs>{
      .name = "full",
      .doc = "A tensor filled with one value.",
      .inputs = {{"fill_value", "scalar"}},
      .fuse = Fuse::kElementwise,
      .relation =
          [](RelationContext& ctx, const InitOpAttrs& attrs) {
            const TensorTypeNode* value = ctx.tensor(0);
            if (!value) return kDefer;
            if (!check_rank(ctx, *value, 0, 0)) return kFailed;
            return init_relation(ctx, attrs, attrs.dtype.is_void() ? value->dtype() : attrs.dtype);
          },
      .compute = [](Compute& c, const InitOpAttrs&) { fill_compute(c, "full", c.in(0)(Index{})); },
      .rules = op_rules(MixedPrecision::kFollow, FilledWith{}),
      .test_shapes = {"()f32={1.5}, shape=[2, 3], dtype=float32"},
  };
  return def;
}

const OpDef& op_full_like() {
  static const OpDef def = OpSpec<>{
      .name = "full_like",
      .doc = "A tensor with the type of another, filled with one value.",
      .inputs = {{"data", "tensor; only its type counts"}, {"fill_value", "scalar"}},
      .fuse = Fuse::kElementwise,
      .relation =
          [](RelationContext& ctx, const NoAttrs&) {
            const TensorTypeNode* value = ctx.tensor(1);
            if (!ctx.tensor(0) || !value) return kDefer;
            if (!check_rank(ctx, *value, 0, 1)) return kFailed;
            return ctx.assign_result(ctx.input(0));
          },
      .compute = [](Compute& c, const NoAttrs&) { fill_compute(c, "full_like", c.in(1)(Index{})); },
      .python = "transform",
      .rules = op_rules(FilledWith{}, LikeRule{0, full_of_type}),
      .test_shapes = {"(2, 3)f32, ()f32={2.5}"},
  };
  return def;
}

}  // namespace baton
