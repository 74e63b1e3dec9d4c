// Tensor operators whose shape is a value: extents that are known at run time only.
#include <algorithm>

#include "baton/ir/inspect.h"
#include "baton/ir/rules/static_form_rule.h"
#include "baton/ops/dyn/dyn_compute.h"
#include "baton/ops/dyn/expand_dims_attrs.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/gradient_rules.h"
#include "baton/ops/shared/reindex.h"
#include "baton/ops/shared/sort_compute.h"
#include "baton/ops/tensor/shape_attrs.h"
#include "baton/ops/tensor/sparse_compute.h"
#include "baton/ops/tensor/tensor_relations.h"

namespace baton {

template <>
const AttrSchema& attr_schema<DynExpandDimsAttrs>() {
  using A = DynExpandDimsAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.DynExpandDimsAttrs", {{"num_newaxis", &A::num_newaxis, "how many axes are new"}});
  return schema;
}

namespace {

using Form = StaticFormRule::Form;

// As many `?` as the vector of extents, input `arg`, is long.
RelationStatus shaped_relation(RelationContext& ctx, size_t arg, DType dtype) {
  RelationStatus status = kDone;
  auto shape = any_shape(ctx, arg, &status);
  if (!shape) return status;
  if (dtype.is_void()) return fail_attr(ctx, "dtype", "\"\"", "an element type is needed");
  return ctx.assign_result(tensor_type(std::move(*shape), dtype));
}

RelationStatus data_shaped_relation(RelationContext& ctx) {
  const TensorTypeNode* data = ctx.tensor(0);
  return data ? shaped_relation(ctx, 1, data->dtype()) : kDefer;
}

RelationStatus full_relation(RelationContext& ctx, const InitOpAttrs& attrs) {
  const TensorTypeNode* value = ctx.tensor(0);
  if (!value) return kDefer;
  return shaped_relation(ctx, 1, attrs.dtype.is_void() ? value->dtype() : attrs.dtype);
}

RelationStatus expand_dims_relation(RelationContext& ctx, const DynExpandDimsAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (attrs.num_newaxis < 0 || attrs.num_newaxis > 1000)
    return fail_attr(ctx, "num_newaxis", std::to_string(attrs.num_newaxis), "it must lie in 0..1000");
  return ctx.assign_result(tensor_type(
      std::vector<Dim>(static_cast<size_t>(data->rank() + attrs.num_newaxis), Dim::any()), data->dtype()));
}

RelationStatus squeeze_relation(RelationContext& ctx, const SqueezeAttrs&) {
  const TensorTypeNode* data = ctx.tensor(0);
  RelationStatus status = kDone;
  const auto axes = any_shape(ctx, 1, &status);
  if (!data) return kDefer;
  if (!axes) return status;
  if (axes->size() > static_cast<size_t>(data->rank()))
    return fail_arg(ctx, 1, "more axes than " + type_text(ctx.input(0)) + " has");
  return ctx.assign_result(tensor_type(
      std::vector<Dim>(static_cast<size_t>(data->rank()) - axes->size(), Dim::any()), data->dtype()));
}

RelationStatus strided_slice_relation(RelationContext& ctx, const StridedSliceAttrs&) {
  const TensorTypeNode* data = ctx.tensor(0);
  RelationStatus status = kDone;
  const auto begin = any_shape(ctx, 1, &status);
  if (!data) return kDefer;
  if (!begin) return status;
  if (begin->size() > static_cast<size_t>(data->rank()))
    return fail_arg(ctx, 1, "more axes than " + type_text(ctx.input(0)) + " has");
  std::vector<Dim> shape = data->shape();
  std::copy(begin->begin(), begin->end(), shape.begin());
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

RelationStatus tile_relation(RelationContext& ctx, const TileAttrs&) {
  const TensorTypeNode* data = ctx.tensor(0);
  RelationStatus status = kDone;
  const auto reps = any_shape(ctx, 1, &status);
  if (!data) return kDefer;
  if (!reps) return status;
  const size_t rank = std::max(reps->size(), static_cast<size_t>(data->rank()));
  return ctx.assign_result(tensor_type(std::vector<Dim>(rank, Dim::any()), data->dtype()));
}

RelationStatus pad_relation(RelationContext& ctx, const PadAttrs&) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  return ctx.assign_result(tensor_type(std::vector<Dim>(data->shape().size(), Dim::any()), data->dtype()));
}

}  // namespace

const OpDef& op_dyn_broadcast_to() {
  static const OpDef def = OpSpec<InitOpAttrs>{
      .name = "dyn.broadcast_to",
      .doc = "broadcast_to with the shape as a value.",
      .inputs = {{"data", "tensor"}, {"shape", "vector of extents"}},
      .fuse = Fuse::kBroadcast,
      .relation = [](RelationContext& ctx, const InitOpAttrs&) { return data_shaped_relation(ctx); },
      .compute = [](Compute& c, const InitOpAttrs&) { dyn_broadcast_compute(c); },
      .data_dependent = true,
      .rules = op_rules(StaticFormRule{"broadcast_to", {{1, "shape"}}}, ShapeRule{shape_given<1>},
                        MixedPrecision::kFollow),
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

const OpDef& op_dyn_reshape() {
  static const OpDef def = OpSpec<ReshapeAttrs>{
      .name = "dyn.reshape",
      .doc = "reshape with the shape as a value.",
      .inputs = {{"data", "tensor"}, {"newshape", "vector of extents"}},
      .fuse = Fuse::kInjective,
      .relation = [](RelationContext& ctx, const ReshapeAttrs&) { return data_shaped_relation(ctx); },
      .compute = [](Compute& c, const ReshapeAttrs&) { reshape_compute(c, "reshape"); },
      .reshape_only = true,
      .data_dependent = true,
      .rules = op_rules(reshape_gradient(), StaticFormRule{"reshape", {{1, "newshape"}}},
                        ShapeRule{dyn_reshape_shapes}, MixedPrecision::kFollow),
      .test_shapes = {"(2, 3, 4)f32, (2)i64{-1, 4}, newshape=[]"},
  };
  return def;
}

const OpDef& op_dyn_expand_dims() {
  static const OpDef def = OpSpec<DynExpandDimsAttrs>{
      .name = "dyn.expand_dims",
      .doc = "expand_dims with the axis as a value.",
      .inputs = {{"data", "tensor"}, {"axis", "scalar"}},
      .fuse = Fuse::kInjective,
      .relation = expand_dims_relation,
      .compute = [](Compute& c, const DynExpandDimsAttrs&) { reshape_compute(c, "expand_dims"); },
      .data_dependent = true,
      .declares_attrs = false,
      .rules = op_rules(StaticFormRule{"expand_dims", {{1, "axis", Form::kInteger}}},
                        ShapeRule{dyn_expand_dims_shapes}),
      .test_shapes = {"(2, 3)f32, ()i64{1}, num_newaxis=1"},
  };
  return def;
}

const OpDef& op_dyn_squeeze() {
  static const OpDef def = OpSpec<SqueezeAttrs>{
      .name = "dyn.squeeze",
      .doc = "squeeze with the axes as a value.",
      .inputs = {{"data", "tensor"}, {"axes", "vector"}},
      .fuse = Fuse::kInjective,
      .relation = squeeze_relation,
      .compute = [](Compute& c, const SqueezeAttrs&) { reshape_compute(c, "squeeze"); },
      .reshape_only = true,
      .data_dependent = true,
      .rules = op_rules(StaticFormRule{"squeeze", {{1, "axis"}}}, ShapeRule{dyn_squeeze_shapes}),
      .test_shapes = {"(1, 3, 1)f32, (1)i64{0}, axis=[]"},
  };
  return def;
}

const OpDef& op_dyn_strided_slice() {
  // Relay names slice_mode among the arguments, and yet a call has four.
  static const OpDef def = [] {
    OpDef four = OpSpec<StridedSliceAttrs>{
        .name = "dyn.strided_slice",
        .doc = "strided_slice with begin, end and strides as values.",
        .inputs = {{"data", "tensor"},
                   {"begin", "vector"},
                   {"end", "vector"},
                   {"strides", "vector"},
                   {"slice_mode", "is an attribute"}},
        .fuse = Fuse::kInjective,
        .relation = strided_slice_relation,
        .compute = [](Compute& c, const StridedSliceAttrs& attrs) { dyn_strided_slice_compute(c, attrs); },
        .data_dependent = true,
        .rules = op_rules(StaticFormRule{"strided_slice", {{1, "begin"}, {2, "end"}, {3, "strides"}}},
                          ShapeRule{dyn_strided_slice_shapes}, MixedPrecision::kFollow),
        .test_shapes = {"(5, 6)f32, (2)i64{1, 0}, (2)i64{4, 5}, (2)i64{1, 2}, begin=None, end=None, "
                        "strides=None, axes=None"},
    };
    four.num_inputs = 4;
    return four;
  }();
  return def;
}

const OpDef& op_dyn_tile() {
  static const OpDef def = OpSpec<TileAttrs>{
      .name = "dyn.tile",
      .doc = "tile with the numbers as a value.",
      .inputs = {{"data", "tensor"}, {"reps", "vector"}},
      .fuse = Fuse::kInjective,
      .relation = tile_relation,
      .compute = [](Compute& c, const TileAttrs&) { dyn_tile_compute(c); },
      .data_dependent = true,
      .rules = op_rules(StaticFormRule{"tile", {{1, "reps"}}}, ShapeRule{dyn_tile_shapes},
                        MixedPrecision::kFollow),
      .test_shapes = {"(2, 3)f32, (2)i64{2, 1}, reps=[]"},
  };
  return def;
}

const OpDef& op_dyn_nn_pad() {
  static const OpDef def = OpSpec<PadAttrs>{
      .name = "dyn.nn.pad",
      .doc = "nn.pad with the widths as a value.",
      .inputs = {{"data", "tensor"},
                 {"pad_width", "matrix: before and after, for each axis"},
                 {"pad_val", "scalar"}},
      .fuse = Fuse::kInjective,
      .relation = pad_relation,
      .compute = [](Compute& c, const PadAttrs& attrs) { dyn_pad_compute(c, attrs); },
      .data_dependent = true,
      .rules =
          op_rules(StaticFormRule{"nn.pad", {{1, "pad_width", Form::kPairs}}}, ShapeRule{dyn_pad_shapes}),
      .test_shapes = {"(2, 3)f32, (2, 2)i64{1, 0, 0, 2}, ()i32={0}, pad_width=[]"},
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
      .rules =
          op_rules(StaticFormRule{"one_hot", {{3, "depth", Form::kInteger}}}, ShapeRule{dyn_one_hot_shapes}),
      .test_shapes = {"(3)i32[0, 4], ()f32={1}, ()f32={0}, ()i32{4}, depth=0, dtype=float32"},
  };
  return def;
}

const OpDef& op_dyn_topk() {
  static const OpDef def = OpSpec<TopkAttrs>{
      .name = "dyn.topk",
      .doc = "topk with k as a value.",
      .inputs = {{"data", "tensor"}, {"k", "scalar"}},
      .relation =
          [](RelationContext& ctx, const TopkAttrs& attrs) {
            return ctx.tensor(0) ? topk_result(ctx, attrs, Dim::any()) : kDefer;
          },
      .compute = [](Compute& c, const TopkAttrs& attrs) { topk_compute(c, attrs); },
      .data_dependent = true,
      .rules = op_rules(StaticFormRule{"topk", {{1, "k", Form::kInteger}}}, ShapeRule{dyn_topk_shapes},
                        ResultCount{.of = [](const CallNode& call) -> std::optional<int64_t> {
                          if (text_attr(call, "ret_type") == "both") return 2;
                          return std::nullopt;
                        }}),
      .test_shapes = {"(3, 5)f32, ()i32{2}, k=None, dtype=int32"},
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
            const TensorTypeNode* values = ctx.tensor(1);
            return values ? shaped_relation(ctx, 3, values->dtype()) : kDefer;
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
