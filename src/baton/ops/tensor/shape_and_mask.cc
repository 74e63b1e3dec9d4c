// Shapes as values, sums to a shape, masks and diagonals.
#include "baton/ops/compute_util.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/gradient_rules.h"
#include "baton/ops/tensor/shape_attrs.h"
#include "baton/ops/tensor/tensor_relations.h"

namespace baton {

struct NdarraySizeAttrs {
  DType dtype = {};
};
struct SequenceMaskAttrs {
  double mask_value = 0;
  int64_t axis = 0;
};
struct MatrixSetDiagAttrs {
  int64_t k1 = 0, k2 = 0;
  bool super_diag_right_align = true;
  bool sub_diag_right_align = false;
};
struct TriluAttrs {
  bool upper = true;
};
struct VarianceAttrs {
  std::optional<Ints> axis = {};
  bool keepdims = false;
  bool exclude = false;
  bool unbiased = false;
};
struct UniqueAttrs {
  bool sorted = true;
  bool return_counts = false;
};
struct FixedPointMultiplyAttrs {
  int64_t multiplier = 0, shift = 0;
};
struct FixedPointMultiplyPerAxisAttrs {
  bool is_lshift_required = false;
  bool is_rshift_required = false;
  Ints axes = {};
};

template <>
const AttrSchema& attr_schema<ShapeOfAttrs>() {
  using A = ShapeOfAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.ShapeOfAttrs",
      {{"dtype", &A::dtype, "element type of the result"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<NdarraySizeAttrs>() {
  using A = NdarraySizeAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.NdarraySizeAttrs",
      {{"dtype", &A::dtype, "element type of the result"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<SequenceMaskAttrs>() {
  using A = SequenceMaskAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.SequenceMaskAttrs",
      {{"mask_value", &A::mask_value, "what stands behind the end of a sequence"},
       {"axis", &A::axis, "the axis of time: 0 or 1"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<MatrixSetDiagAttrs>() {
  using A = MatrixSetDiagAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.MatrixSetDiagAttrs",
      {{"k1", &A::k1, "the lowest diagonal"},
       {"k2", &A::k2, "the highest diagonal"},
       {"super_diag_right_align", &A::super_diag_right_align, "whether diagonals above are aligned at the right"},
       {"sub_diag_right_align", &A::sub_diag_right_align, "whether diagonals below are aligned at the right"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<TriluAttrs>() {
  using A = TriluAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.TriluAttrs",
      {{"upper", &A::upper, "whether the upper triangle is kept"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<VarianceAttrs>() {
  using A = VarianceAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.VarianceAttrs",
      {{"axis", &A::axis, "the axes that are reduced; None: all"},
       {"keepdims", &A::keepdims, "whether they stay with extent 1"},
       {"exclude", &A::exclude, "whether the other axes are reduced"},
       {"unbiased", &A::unbiased, "whether the sum is divided by n - 1"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<UniqueAttrs>() {
  using A = UniqueAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.UniqueAttrs",
      {{"sorted", &A::sorted, "whether the values are sorted"},
       {"return_counts", &A::return_counts, "whether it is counted how often each value stands"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<FixedPointMultiplyAttrs>() {
  using A = FixedPointMultiplyAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.FixedPointMultiplyAttrs",
      {{"multiplier", &A::multiplier, "factor, in 31-bit fixed point", kNoDefault},
       {"shift", &A::shift, "power of two", kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<FixedPointMultiplyPerAxisAttrs>() {
  using A = FixedPointMultiplyPerAxisAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.FixedPointMultiplyPerAxisAttrs",
      {{"is_lshift_required", &A::is_lshift_required, "whether there is a left shift"},
       {"is_rshift_required", &A::is_rshift_required, "whether there is a right shift"},
       {"axes", &A::axes, "the axes of the factors", kNoDefault}});
  return schema;
}

namespace {

DType or_int32(DType dtype) { return dtype.is_void() ? DType::int_(32) : dtype; }

RelationStatus shape_of_relation(RelationContext& ctx, const ShapeOfAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  return ctx.assign_result(tensor_type(std::vector<int64_t>{data->rank()}, or_int32(attrs.dtype)));
}

// The result has the shape of input 1, to which the data is summed.
RelationStatus collapse_sum_like_relation(RelationContext& ctx, const NoAttrs&) {
  const TensorTypeNode *data = ctx.tensor(0), *like = ctx.tensor(1);
  if (!data || !like) return kDefer;
  const auto both = broadcast_shapes(data->shape(), like->shape());
  if (!both || both->size() != data->shape().size())
    return fail_arg(ctx, 1, type_text(ctx.input(1)) + " cannot be broadcast to " + type_text(ctx.input(0)));
  return ctx.assign_result(ctx.input(1));
}

RelationStatus collapse_sum_to_relation(RelationContext& ctx, const InitOpAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  std::vector<Dim> shape;
  if (attrs.shape) {
    if (!check_least(ctx, "shape", *attrs.shape, 0)) return kFailed;
    shape.assign(attrs.shape->begin(), attrs.shape->end());
  } else {
    RelationStatus status = kDone;
    const auto any = any_shape(ctx, 1, &status);
    if (!any) return status;
    shape = *any;
  }
  const auto both = broadcast_shapes(data->shape(), shape);
  if (!both || both->size() != data->shape().size())
    return fail_attr(ctx, "shape", shape_text(shape), "it cannot be broadcast to " + type_text(ctx.input(0)));
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

RelationStatus sequence_mask_relation(RelationContext& ctx, const SequenceMaskAttrs& attrs) {
  const TensorTypeNode *data = ctx.tensor(0), *lengths = ctx.tensor(1);
  if (!data || !lengths) return kDefer;
  if (attrs.axis != 0 && attrs.axis != 1) return fail_attr(ctx, "axis", std::to_string(attrs.axis), "it must be 0 or 1");
  if (data->rank() < 2) return fail_arg(ctx, 0, "data with a time and a batch axis is needed, got " + type_text(ctx.input(0)));
  const Dim batch = data->shape()[1 - attrs.axis];
  if (ctx.assign(1, tensor_type(std::vector<Dim>{batch}, lengths->dtype())) == kFailed) return kFailed;
  return identity_relation(ctx);
}

RelationStatus matrix_relation(RelationContext& ctx) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (data->rank() < 2) return fail_arg(ctx, 0, "matrices are needed, got " + type_text(ctx.input(0)));
  return identity_relation(ctx);
}

RelationStatus matrix_set_diag_relation(RelationContext& ctx, const MatrixSetDiagAttrs& attrs) {
  const TensorTypeNode *data = ctx.tensor(0), *diagonal = ctx.tensor(1);
  if (!data || !diagonal) return kDefer;
  if (attrs.k1 > attrs.k2) return fail_attr(ctx, "k1", std::to_string(attrs.k1), "it is above k2 = " + std::to_string(attrs.k2));
  if (!check_rank(ctx, *diagonal, data->rank() - (attrs.k1 == attrs.k2 ? 1 : 0), 1)) return kFailed;
  return matrix_relation(ctx);
}

RelationStatus unique_relation(RelationContext& ctx, const UniqueAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (!check_rank(ctx, *data, 1, 0)) return kFailed;
  const Type indices = tensor_type(data->shape(), DType::int_(32));
  std::vector<Type> fields{ctx.input(0), indices, indices, tensor_type(std::vector<Dim>{1}, DType::int_(32))};
  if (attrs.return_counts) fields.push_back(indices);
  return ctx.assign_result(tuple_type(std::move(fields)));
}

RelationStatus unravel_index_relation(RelationContext& ctx, const NoAttrs&) {
  const TensorTypeNode *indices = ctx.tensor(0), *shape = ctx.tensor(1);
  if (!indices || !shape) return kDefer;
  if (!check_rank(ctx, *shape, 1, 1)) return kFailed;
  std::vector<Dim> extents{shape->shape()[0]};
  extents.insert(extents.end(), indices->shape().begin(), indices->shape().end());
  return ctx.assign_result(tensor_type(std::move(extents), indices->dtype()));
}

RelationStatus invert_permutation_relation(RelationContext& ctx, const NoAttrs&) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  return check_rank(ctx, *data, 1, 0) ? identity_relation(ctx) : kFailed;
}

void shape_of_compute(Compute& c, const ShapeOfAttrs&) {
  const Axes i(1);
  Halide::Expr extent = constant_of(c.out().dtype(), 0);
  for (int k = 0; k < c.in(0).rank(); ++k)
    extent = select(i[0] == k, cast_to(c.out().dtype(), Halide::Expr(c.in(0).extent(k))), extent);
  Halide::Func extents = c.stage("shape_of");
  extents(i.reversed()) = extent;
  c.result(extents);
}

void ndarray_size_compute(Compute& c, const NdarraySizeAttrs&) {
  int64_t count = 1;
  for (const int64_t extent : c.in(0).shape()) count *= extent;
  Halide::Func size = c.stage("ndarray_size");
  size() = cast_to(c.out().dtype(), Halide::Expr(count));
  c.result(size);
}

void sequence_mask_compute(Compute& c, const SequenceMaskAttrs& attrs) {
  const Axes i(c.out().rank());
  const int time = static_cast<int>(attrs.axis);
  const Halide::Expr length = c.in(1)(Index{i[1 - time]});
  Halide::Func masked = c.stage("sequence_mask");
  masked(i.reversed()) = select(cast(length.type(), i[time]) < length, c.in(0)(i.exprs()), constant_of(c.out().dtype(), attrs.mask_value));
  c.result(masked);
}

void trilu_compute(Compute& c, const TriluAttrs& attrs) {
  const Axes i(c.out().rank());
  const Halide::Expr right = i[-1] - i[-2], k = Halide::cast<int>(c.in(1)(Index{}));
  Halide::Func kept = c.stage("trilu");
  kept(i.reversed()) = select(attrs.upper ? right >= k : right <= k, c.in(0)(i.exprs()), constant_of(c.out().dtype(), 0));
  c.result(kept);
}

}  // namespace

const OpDef& op_shape_of() {
  static const OpDef def = OpSpec<ShapeOfAttrs>{
      .name = "shape_of",
      .doc = "The extents of a tensor, as a vector.",
      .inputs = {{"data", "tensor"}},
      .relation = shape_of_relation,
      .compute = shape_of_compute,
      .rules = op_rules(no_gradient()),
  };
  return def;
}

const OpDef& op_ndarray_size() {
  static const OpDef def = OpSpec<NdarraySizeAttrs>{
      .name = "ndarray_size",
      .doc = "The number of elements.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kInjective,
      .relation = [](RelationContext& ctx, const NdarraySizeAttrs& attrs) {
        return ctx.tensor(0) ? ctx.assign_result(scalar_type(or_int32(attrs.dtype))) : kDefer;
      },
      .compute = ndarray_size_compute,
  };
  return def;
}

const OpDef& op_collapse_sum_like() {
  static const OpDef def = OpSpec<NoAttrs>{
      .name = "collapse_sum_like",
      .doc = "The data summed to the shape of another tensor: what broadcasting undoes.",
      .inputs = {{"data", "tensor"}, {"collapse_type", "tensor that gives the shape"}},
      .fuse = Fuse::kCommReduce,
      .relation = collapse_sum_like_relation,
      .rules = op_rules(collapse_sum_gradient()),
  };
  return def;
}

const OpDef& op_collapse_sum_to() {
  static const OpDef def = OpSpec<InitOpAttrs>{
      .name = "collapse_sum_to",
      .doc = "The data summed to a shape that can be broadcast to its own.",
      .inputs = {{"data", "tensor"}, {"shape", "vector of extents"}},
      .fuse = Fuse::kCommReduce,
      .relation = collapse_sum_to_relation,
      .declares_attrs = false,
      .rules = op_rules(collapse_sum_gradient()),
  };
  return def;
}

const OpDef& op_sequence_mask() {
  static const OpDef def = OpSpec<SequenceMaskAttrs>{
      .name = "sequence_mask",
      .doc = "The data with a value behind the end of each sequence.",
      .inputs = {{"data", "tensor: time and batch first"}, {"valid_length", "vector: the length of each sequence"}},
      .fuse = Fuse::kInjective,
      .relation = sequence_mask_relation,
      .compute = sequence_mask_compute,
  };
  return def;
}

const OpDef& op_matrix_set_diag() {
  static const OpDef def = OpSpec<MatrixSetDiagAttrs>{
      .name = "matrix_set_diag",
      .doc = "Matrices with other diagonals.",
      .inputs = {{"input", "matrices"}, {"diagonal", "the new diagonals"}},
      .fuse = Fuse::kInjective,
      .relation = matrix_set_diag_relation,
  };
  return def;
}

const OpDef& op_trilu() {
  static const OpDef def = OpSpec<TriluAttrs>{
      .name = "trilu",
      .doc = "The upper or lower triangle of matrices, zeros elsewhere.",
      .inputs = {{"data", "matrices"}, {"k", "scalar: the diagonal where the triangle ends"}},
      .fuse = Fuse::kElementwise,
      .relation = [](RelationContext& ctx, const TriluAttrs&) { return matrix_relation(ctx); },
      .compute = trilu_compute,
      .declares_attrs = false,
  };
  return def;
}

const OpDef& op_variance() {
  static const OpDef def = OpSpec<VarianceAttrs>{
      .name = "variance",
      .doc = "The mean squared distance from the mean.",
      .inputs = {{"data", "tensor"}, {"mean", "the mean, with the reduced axes of extent 1"}},
      .fuse = Fuse::kCommReduce,
      .relation = [](RelationContext& ctx, const VarianceAttrs& a) { return reduce_relation(ctx, a.axis, a.exclude, a.keepdims, DType()); },
      .rules = op_rules(variance_gradient()),
  };
  return def;
}

const OpDef& op_unique() {
  static const OpDef def = OpSpec<UniqueAttrs>{
      .name = "unique",
      .doc = "The different values; where each stands first; which of them each element is; how many there are.",
      .inputs = {{"data", "vector"}},
      .relation = unique_relation,
      .declares_attrs = false,
  };
  return def;
}

const OpDef& op_unravel_index() {
  static const OpDef def = OpSpec<NoAttrs>{
      .name = "unravel_index",
      .doc = "The index of each flat position.",
      .inputs = {{"data", "tensor of integers"}, {"shape", "vector of extents"}},
      .fuse = Fuse::kInjective,
      .relation = unravel_index_relation,
  };
  return def;
}

const OpDef& op_invert_permutation() {
  static const OpDef def = OpSpec<NoAttrs>{
      .name = "invert_permutation",
      .doc = "Where each position has gone.",
      .inputs = {{"data", "vector of integers"}},
      .fuse = Fuse::kInjective,
      .relation = invert_permutation_relation,
  };
  return def;
}

const OpDef& op_reinterpret() {
  static const OpDef def = OpSpec<CastAttrs>{
      .name = "reinterpret",
      .doc = "The same bits as another element type.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kElementwise,
      .relation = [](RelationContext& ctx, const CastAttrs& attrs) {
        if (attrs.dtype.is_void()) return fail_attr(ctx, "dtype", "\"\"", "an element type is needed");
        return same_shape_relation(ctx, attrs.dtype);
      },
  };
  return def;
}

const OpDef& op_fixed_point_multiply() {
  static const OpDef def = OpSpec<FixedPointMultiplyAttrs>{
      .name = "fixed_point_multiply",
      .doc = "data * multiplier * 2^(shift - 31), rounded.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kElementwise,
      .relation = [](RelationContext& ctx, const FixedPointMultiplyAttrs&) { return identity_relation(ctx); },
  };
  return def;
}

const OpDef& op_fixed_point_multiply_per_axis() {
  static const OpDef def = OpSpec<FixedPointMultiplyPerAxisAttrs>{
      .name = "fixed_point_multiply_per_axis",
      .doc = "fixed_point_multiply with factors and shifts of their own along some axes.",
      .inputs = {{"data", "tensor"}, {"fp_multiplier", "factors"}, {"left_shift", "shifts"}, {"right_shift", "shifts"}},
      .fuse = Fuse::kBroadcast,
      .relation = [](RelationContext& ctx, const FixedPointMultiplyPerAxisAttrs&) { return identity_relation(ctx); },
  };
  return def;
}

const OpDef& op_strided_set() {
  static const OpDef def = OpSpec<NoAttrs>{
      .name = "strided_set",
      .doc = "The data with a strided slice written.",
      .inputs = {{"data", "tensor"}, {"v", "the slice"}, {"begin", "vector"}, {"end", "vector"}, {"strides", "vector"}},
      .fuse = Fuse::kInjective,
      .relation = [](RelationContext& ctx, const NoAttrs&) { return identity_relation(ctx); },
  };
  return def;
}

const OpDef& op_hardswish() {
  static const OpDef def = OpSpec<NoAttrs>{
      .name = "hardswish",
      .doc = "A name that quantisation passes know; it has no meaning of its own and cannot be called.",
      .inputs = {},
      .variadic = true,
      .relation = [](RelationContext& ctx, const NoAttrs&) { return fail_arg(ctx, -1, "hardswish is no operator that can be called: write x * clip(x + 3, 0, 6) / 6"); },
  };
  return def;
}

}  // namespace baton
