// Tensor operators with dynamic shape operands.
#include <algorithm>

#include "baton/ir/inspect.h"
#include "baton/ir/layout.h"
#include "baton/ir/rules/static_form_rule.h"
#include "baton/ops/domain.h"
#include "baton/ops/dyn/dyn_shapes.h"
#include "baton/ops/nn/pad_attrs.h"
#include "baton/ops/nn/upsampling.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/shared/reindex.h"
#include "baton/ops/shared/sort_compute.h"
#include "baton/ops/tensor/dynamic_forms.h"
#include "baton/ops/tensor/reshape_relation.h"
#include "baton/ops/tensor/tensor_relations.h"
#include "baton/support/diagnostic.h"

namespace baton {

struct DynExpandDimsAttrs {
  int64_t num_newaxis = 1;
};

template <>
const AttrSchema& attr_schema<DynExpandDimsAttrs>() {
  using A = DynExpandDimsAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.DynExpandDimsAttrs", {{"num_newaxis", &A::num_newaxis, "how many axes are new"}});
  return schema;
}

namespace {

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
  const TensorTypeNode *data = ctx.tensor(0), *widths = ctx.tensor(1);
  if (!data) return kDefer;
  if (widths && !check_shape(ctx, *widths, {data->rank(), 2}, 1, "a pair of widths for each axis"))
    return kFailed;
  return ctx.assign_result(tensor_type(std::vector<Dim>(data->shape().size(), Dim::any()), data->dtype()));
}

Shapes dyn_reshape_shapes(const Attrs& attrs, const Arrays& inputs) {
  const std::vector<Dim> from(inputs[0].shape().begin(), inputs[0].shape().end());
  std::string why;
  const auto shape = reshaped(from, integers_of(inputs[1]), attrs_as<ReshapeAttrs>(attrs).allowzero, &why);
  if (!shape) throw NotSupported("dyn.reshape to " + numbers_text(integers_of(inputs[1])) + ": " + why);
  std::vector<int64_t> extents;
  for (const Dim& dim : *shape) extents.push_back(dim.value());
  return {extents};
}

Shapes dyn_expand_dims_shapes(const Attrs& attrs, const Arrays& inputs) {
  std::vector<int64_t> shape = inputs[0].shape();
  const int64_t rank = static_cast<int64_t>(shape.size()) + 1;
  const int at = checked_place(scalar_of(inputs[1], "an axis"), rank, "dyn.expand_dims");
  shape.insert(shape.begin() + at, static_cast<size_t>(attrs_as<DynExpandDimsAttrs>(attrs).num_newaxis), 1);
  return {shape};
}

Shapes dyn_squeeze_shapes(const Attrs&, const Arrays& inputs) {
  const std::vector<int64_t>& from = inputs[0].shape();
  std::vector<bool> dropped(from.size(), false);
  for (const int64_t axis : integers_of(inputs[1])) {
    const int at = checked_place(axis, static_cast<int64_t>(from.size()), "dyn.squeeze");
    if (from[at] != 1)
      throw NotSupported("dyn.squeeze: axis " + std::to_string(axis) + " is " + std::to_string(from[at]) +
                         ", not 1");
    dropped[at] = true;
  }
  std::vector<int64_t> shape;
  for (size_t k = 0; k < from.size(); ++k)
    if (!dropped[k]) shape.push_back(from[k]);
  return {shape};
}

Shapes dyn_strided_slice_shapes(const Attrs& attrs, const Arrays& inputs) {
  StridedSliceAttrs known = attrs_as<StridedSliceAttrs>(attrs);
  known.begin = integers_of(inputs[1]);
  known.end = integers_of(inputs[2]);
  known.strides = integers_of(inputs[3]);
  if (std::count(known.strides->begin(), known.strides->end(), 0))
    throw NotSupported("dyn.strided_slice: a step is 0");
  std::vector<int64_t> shape = inputs[0].shape();
  for (size_t k = 0; k < std::min(shape.size(), std::max(known.begin->size(), known.end->size())); ++k)
    shape[k] = slice_of(known, k, shape[k]).count;
  return {shape};
}

Shapes dyn_tile_shapes(const Attrs&, const Arrays& inputs) {
  std::vector<int64_t> shape = inputs[0].shape(), reps = integers_of(inputs[1]);
  const size_t rank = std::max(shape.size(), reps.size());
  shape.insert(shape.begin(), rank - shape.size(), 1);
  reps.insert(reps.begin(), rank - reps.size(), 1);
  for (size_t k = 0; k < rank; ++k) {
    if (reps[k] < 0 || reps[k] > INT32_MAX)
      throw NotSupported("dyn.tile: repetitions of " + numbers_text(reps));
    shape[k] *= reps[k];
  }
  return {shape};
}

Shapes dyn_pad_shapes(const Attrs&, const Arrays& inputs) {
  std::vector<int64_t> shape = inputs[0].shape();
  const std::vector<int64_t> widths = integers_of(inputs[1]);
  if (widths.size() != 2 * shape.size())
    throw NotSupported("dyn.nn.pad needs a pair of widths for each axis");
  for (size_t k = 0; k < shape.size(); ++k) {
    shape[k] += widths[2 * k] + widths[2 * k + 1];  // negative ones cut off
    if (shape[k] < 0) throw NotSupported("dyn.nn.pad: widths of " + numbers_text(widths));
  }
  return {shape};
}

Shapes dyn_topk_shapes(const Attrs& attrs, const Arrays& inputs) {
  const auto& topk = attrs_as<TopkAttrs>(attrs);
  std::vector<int64_t> shape = inputs[0].shape();
  const int at = checked_place(topk.axis, static_cast<int64_t>(shape.size()), "dyn.topk");
  const int64_t k = scalar_of(inputs[1], "k");
  if (k > shape[at])
    throw NotSupported("dyn.topk: k is " + std::to_string(k) + ", and there are " +
                       std::to_string(shape[at]) + " elements");
  if (k >= 1) shape[at] = k;
  return topk.ret_type == "both" ? Shapes{shape, shape} : Shapes{shape};
}

// The begin positions are read at run time; the extents come from the result's type.
void dyn_strided_slice_compute(Compute& c, const StridedSliceAttrs& attrs) {
  const Tensor &data = c.in(0), &begin = c.in(1), &strides = c.in(3);
  reindex_compute(c, "strided_slice", [&](Index i) {
    for (int k = 0; k < std::min<int64_t>(begin.extent(0), data.rank()); ++k) {
      const Halide::Expr given = Halide::cast<int64_t>(begin(Index{k})),
                         extent = Halide::cast<int64_t>(data.size(k));
      const bool steps = attrs.slice_mode != "size" && k < strides.extent(0);
      const Halide::Expr step = steps ? Halide::cast<int64_t>(strides(Index{k})) : Halide::cast<int64_t>(1);
      const Halide::Expr first = clamp(select(given < 0, given + extent, given), Halide::cast<int64_t>(0),
                                       select(step > 0, extent, extent - 1));
      i[k] = inside_axis(first + Halide::cast<int64_t>(i[k]) * step, data.dim(k));
    }
    return i;
  });
}

void dyn_tile_compute(Compute& c) {
  const Tensor& data = c.in(0);
  reindex_compute(c, "tile", [&](const Index& i) {
    Index at(i.end() - data.rank(), i.end());
    for (int k = 0; k < data.rank(); ++k) at[k] = at[k] % data.size(k);
    return at;
  });
}

void dyn_pad_compute(Compute& c, const PadAttrs& attrs) {
  const Tensor &data = c.in(0), &widths = c.in(1);
  const Axes i(data.rank());
  Index at = i.exprs();
  Halide::Expr inside = Halide::Internal::const_true();
  for (int k = 0; k < data.rank(); ++k) {
    const Halide::Expr last = as_expr(data.dim(k) - 1);
    c.needs_elements(data.dim(k));
    Halide::Expr index = i[k] - Halide::cast<int>(widths(Index{k, 0}));
    if (attrs.pad_mode == "reflect")
      index = last - Halide::cast<int>(abs(last - Halide::cast<int>(abs(index))));
    else if (attrs.pad_mode == "constant")
      inside = inside && index >= 0 && index <= last;
    at[k] = inside_axis(index, data.dim(k));
  }
  Halide::Func padded = c.stage("pad");
  padded(i.reversed()) =
      is_const_one(inside) ? data(at) : select(inside, data(at), cast_to(data.dtype(), c.in(2)(Index{})));
  c.result(padded);
}

}  // namespace

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
      .rules = op_rules(StaticFormRule{"expand_dims", {{1, "axis", StaticFormRule::Form::kInteger}}},
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
  // Relay lists slice_mode among the arguments, but calls have four.
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
      .rules = op_rules(StaticFormRule{"nn.pad", {{1, "pad_width", StaticFormRule::Form::kPairs}}},
                        ShapeRule{dyn_pad_shapes}),
      .test_shapes = {"(2, 3)f32, (2, 2)i64{1, 0, 0, 2}, ()i32={0}, pad_width=[]"},
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
      .rules = op_rules(StaticFormRule{"topk", {{1, "k", StaticFormRule::Form::kInteger}}},
                        ShapeRule{dyn_topk_shapes},
                        ResultCount{.of = [](const CallNode& call) -> std::optional<int64_t> {
                          if (text_attr(call, "ret_type") == "both") return 2;
                          return std::nullopt;
                        }}),
      .test_shapes = {"(3, 5)f32, ()i32{2}, k=None, dtype=int32"},
  };
  return def;
}

}  // namespace baton
