// Operators with a dynamic shape operand that create tensors from few numbers.

#include "baton/ir/rules/algebra.h"
#include "baton/ir/rules/static_form_rule.h"
#include "baton/ops/domain.h"
#include "baton/ops/dyn/dyn_shapes.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/shared/reindex.h"
#include "baton/ops/tensor/dynamic_forms.h"
#include "baton/support/diagnostic.h"

namespace baton {

namespace {

RelationStatus full_relation(RelationContext& ctx, const InitOpAttrs& attrs) {
  const TensorTypeNode* value = ctx.tensor(0);
  if (!value) return kDefer;
  return shaped_relation(ctx, 1, attrs.dtype.is_void() ? value->dtype() : attrs.dtype);
}

RelationStatus broadcast_to_relation(RelationContext& ctx) {
  const TensorTypeNode *data = ctx.tensor(0), *shape = ctx.tensor(1);
  if (data && shape && shape->rank() == 1 && !shape->shape()[0].is_any() &&
      shape->shape()[0].value() < data->rank())
    return fail_arg(ctx, 1,
                    "at least " + std::to_string(data->rank()) + " extents are needed for data of type " +
                        type_text(ctx.input(0)) + ", got " + type_text(ctx.input(1)));
  return data_shaped_relation(ctx);
}

Shapes broadcast_to_shapes(const Attrs&, const Arrays& inputs) {
  const std::vector<int64_t> from = inputs[0].shape(), to = integers_of(inputs[1]);
  const auto both = broadcast_shapes({from.begin(), from.end()}, {to.begin(), to.end()});
  if (!both || *both != std::vector<Dim>(to.begin(), to.end()))
    throw NotSupported("dyn.broadcast_to: " + numbers_text(from) + " does not broadcast to " +
                       numbers_text(to));
  return {to};
}

void dyn_broadcast_compute(Compute& c) {
  reindex_compute(c, "broadcast_to", [&](const Index& i) { return broadcast_index(c.in(0), i); });
}

// Every element is input 0 (a scalar), or `value` when there is none.
void dyn_full_compute(Compute& c) {
  const Axes i(c.out().rank());
  Halide::Func full = c.stage("full");
  full(i.reversed()) = cast_to(c.out().dtype(), c.in(0)(Index{}));
  c.result(full);
}

void dyn_constant_compute(Compute& c, int value) {
  const Axes i(c.out().rank());
  Halide::Func full = c.stage("full");
  full(i.reversed()) = constant_of(c.out().dtype(), value);
  c.result(full);
}

Shapes dyn_one_hot_shapes(const Attrs& attrs, const Arrays& inputs) {
  std::vector<int64_t> shape = inputs[0].shape();
  const int at =
      checked_place(attrs_as<OneHotAttrs>(attrs).axis, static_cast<int64_t>(shape.size()) + 1, "dyn.one_hot");
  shape.insert(shape.begin() + at, scalar_of(inputs[3], "the depth"));
  return {shape};
}

}  // namespace

const OpDef& op_dyn_broadcast_to() {
  static const OpDef def = OpSpec<InitOpAttrs>{
      .name = "dyn.broadcast_to",
      .doc = "broadcast_to with the shape as a value.",
      .inputs = {{"data", "tensor"}, {"shape", "vector of extents"}},
      .fuse = Fuse::kBroadcast,
      .relation = [](RelationContext& ctx, const InitOpAttrs&) { return broadcast_to_relation(ctx); },
      .compute = [](Compute& c, const InitOpAttrs&) { dyn_broadcast_compute(c); },
      .data_dependent = true,
      .rules = op_rules(StaticFormRule{"broadcast_to", {{1, "shape"}}}, ShapeRule{broadcast_to_shapes},
                        MixedPrecision::kFollow, NotBroadcast{}),
      .test_shapes = {"(1, 3)f32, (2)i64{4, 3}, shape=None"},
  };
  return def;
}

const OpDef& op_dyn_full() {
  static const OpDef def = OpSpec<InitOpAttrs>{
      .name = "dyn.full",
      .doc = "full with the shape as a value.",
      .inputs = {{"fill_value", "scalar"}, {"shape", "vector of extents"}},
      .fuse = Fuse::kElementwise,
      .relation = full_relation,
      .compute = [](Compute& c, const InitOpAttrs&) { dyn_full_compute(c); },
      .data_dependent = true,
      .rules = op_rules(StaticFormRule{"full", {{1, "shape"}}}, ShapeRule{shape_given<1>},
                        MixedPrecision::kFollow),
      .test_shapes = {"()f32={2.5}, (2)i64{2, 3}, shape=None, dtype=float32"},
  };
  return def;
}

const OpDef& op_dyn_ones() {
  static const OpDef def = OpSpec<InitOpAttrs>{
      .name = "dyn.ones",
      .doc = "ones with the shape as a value.",
      .inputs = {{"shape", "vector of extents"}},
      .fuse = Fuse::kElementwise,
      .relation = [](RelationContext& ctx,
                     const InitOpAttrs& attrs) { return shaped_relation(ctx, 0, attrs.dtype); },
      .compute = [](Compute& c, const InitOpAttrs&) { dyn_constant_compute(c, 1); },
      .data_dependent = true,
      .rules = op_rules(no_gradient(), StaticFormRule{"ones", {{0, "shape"}}}, ShapeRule{shape_given<0>}),
      .test_shapes = {"(2)i64{2, 3}, shape=None, dtype=float32"},
  };
  return def;
}

const OpDef& op_dyn_zeros() {
  static const OpDef def = OpSpec<InitOpAttrs>{
      .name = "dyn.zeros",
      .doc = "zeros with the shape as a value.",
      .inputs = {{"shape", "vector of extents"}},
      .fuse = Fuse::kElementwise,
      .relation = [](RelationContext& ctx,
                     const InitOpAttrs& attrs) { return shaped_relation(ctx, 0, attrs.dtype); },
      .compute = [](Compute& c, const InitOpAttrs&) { dyn_constant_compute(c, 0); },
      .data_dependent = true,
      .rules = op_rules(no_gradient(), StaticFormRule{"zeros", {{0, "shape"}}}, ShapeRule{shape_given<0>}),
      .test_shapes = {"(2)i64{2, 3}, shape=None, dtype=float32"},
  };
  return def;
}

const OpDef& op_dyn_one_hot() {
  static const OpDef def = OpSpec<OneHotAttrs>{
      .name = "dyn.one_hot",
      .doc = "one_hot with the depth as a value.",
      .inputs = {{"indices", "tensor of integers"},
                 {"on_value", "scalar"},
                 {"off_value", "scalar"},
                 {"depth", "scalar"}},
      .fuse = Fuse::kOutFusable,
      .relation =
          [](RelationContext& ctx, const OneHotAttrs& attrs) {
            return ctx.tensor(0) ? one_hot_result(ctx, attrs, Dim::any()) : kDefer;
          },
      .compute = [](Compute& c, const OneHotAttrs& attrs) { one_hot_compute(c, attrs); },
      .data_dependent = true,
      .rules = op_rules(StaticFormRule{"one_hot", {{3, "depth", StaticFormRule::Form::kInteger}}},
                        ShapeRule{dyn_one_hot_shapes}),
      .test_shapes = {"(3)i32[0, 4], ()f32={1}, ()f32={0}, ()i32{4}, depth=0, dtype=float32"},
  };
  return def;
}

const OpDef& op_dyn_sparse_to_dense() {
  static const OpDef def = OpSpec<NoAttrs>{
      .name = "dyn.sparse_to_dense",
      .doc = "sparse_to_dense with the shape as a value.",
      .inputs = {{"sparse_indices", "indices of the values, one a row"},
                 {"sparse_values", "the values"},
                 {"default_value", "scalar"},
                 {"output_shape", "vector of extents"}},
      .relation =
          [](RelationContext& ctx, const NoAttrs&) {
            const TensorTypeNode *values = ctx.tensor(1), *shape = ctx.tensor(3);
            if (!ctx.tensor(0) || !values || !shape) return kDefer;
            if (shape->rank() == 1 && !shape->shape()[0].is_any() &&
                !check_sparse_indices(ctx, shape->shape()[0].value()))
              return kFailed;
            return shaped_relation(ctx, 3, values->dtype());
          },
      .compute = [](Compute& c, const NoAttrs&) { sparse_to_dense_compute(c); },
      .data_dependent = true,
      .cost = moving_cost,
      .rules = op_rules(StaticFormRule{"sparse_to_dense", {{3, "output_shape"}}}, ShapeRule{shape_given<3>}),
      .test_shapes = {"(2, 2)i32{0, 1, 2, 3}, (2)f32, ()f32={0}, (2)i32{3, 4}"},
  };
  return def;
}

}  // namespace baton
