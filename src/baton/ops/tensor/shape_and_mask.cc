// Shapes and indices as values, masks, diagonals, slices that are written.
#include "baton/ir/rules/algebra.h"
#include "baton/ops/domain.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/tensor/dynamic_forms.h"

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

template <>
const AttrSchema& attr_schema<ShapeOfAttrs>() {
  using A = ShapeOfAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.ShapeOfAttrs", {{"dtype", &A::dtype, "element type of the result"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<NdarraySizeAttrs>() {
  using A = NdarraySizeAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.NdarraySizeAttrs", {{"dtype", &A::dtype, "element type of the result"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<SequenceMaskAttrs>() {
  using A = SequenceMaskAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.SequenceMaskAttrs",
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
                                                   {"super_diag_right_align", &A::super_diag_right_align,
                                                    "whether diagonals above are aligned at the right"},
                                                   {"sub_diag_right_align", &A::sub_diag_right_align,
                                                    "whether diagonals below are aligned at the right"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<TriluAttrs>() {
  using A = TriluAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.TriluAttrs", {{"upper", &A::upper, "whether the upper triangle is kept"}});
  return schema;
}

namespace {

DType or_int32(DType dtype) { return dtype.is_void() ? DType::int_(32) : dtype; }

RelationStatus shape_of_relation(RelationContext& ctx, const ShapeOfAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  return ctx.assign_result(tensor_type(std::vector<int64_t>{data->rank()}, or_int32(attrs.dtype)));
}

RelationStatus sequence_mask_relation(RelationContext& ctx, const SequenceMaskAttrs& attrs) {
  const TensorTypeNode *data = ctx.tensor(0), *lengths = ctx.tensor(1);
  if (!data || !lengths) return kDefer;
  if (attrs.axis != 0 && attrs.axis != 1)
    return fail_attr(ctx, "axis", std::to_string(attrs.axis), "it must be 0 or 1");
  if (data->rank() < 2)
    return fail_arg(ctx, 0, "data with a time and a batch axis is needed, got " + type_text(ctx.input(0)));
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
  if (attrs.k1 > attrs.k2)
    return fail_attr(ctx, "k1", std::to_string(attrs.k1), "it is above k2 = " + std::to_string(attrs.k2));
  const bool one = attrs.k1 == attrs.k2;
  if (data->rank() < 2 || !check_rank(ctx, *diagonal, data->rank() - (one ? 1 : 0), 1))
    return data->rank() < 2 ? matrix_relation(ctx) : kFailed;
  for (int axis = 0; axis + 2 < data->rank(); ++axis)
    if (!check_extent(ctx, *diagonal, axis, data->shape()[axis], 1, "diagonals for each matrix"))
      return kFailed;
  if (!one &&
      !check_extent(ctx, *diagonal, data->rank() - 2, attrs.k2 - attrs.k1 + 1, 1, "diagonals k1 to k2"))
    return kFailed;
  return matrix_relation(ctx);
}

RelationStatus unravel_index_relation(RelationContext& ctx, const NoAttrs&) {
  const TensorTypeNode *indices = ctx.tensor(0), *shape = ctx.tensor(1);
  if (!indices || !shape) return kDefer;
  if (!check_integers(ctx, *indices, 0) || !check_integers(ctx, *shape, 1) || !check_rank(ctx, *shape, 1, 1))
    return kFailed;
  std::vector<Dim> extents{shape->shape()[0]};
  extents.insert(extents.end(), indices->shape().begin(), indices->shape().end());
  return ctx.assign_result(tensor_type(std::move(extents), indices->dtype()));
}

RelationStatus invert_permutation_relation(RelationContext& ctx, const NoAttrs&) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  return check_rank(ctx, *data, 1, 0) ? identity_relation(ctx) : kFailed;
}

// As an int64, however large.
Halide::Expr wide_expr(Dim dim) {
  return dim.is_symbolic() ? cast<int64_t>(as_expr(dim)) : Halide::Expr(dim.value());
}

void ndarray_size_compute(Compute& c, const NdarraySizeAttrs&) {
  Dim count = c.in(0).rank() == 0 ? 0 : 1;
  for (const Dim& extent : c.in(0).dims()) count = count * extent;
  Halide::Func size = c.stage("ndarray_size");
  size() = cast_to(c.out().dtype(), wide_expr(count));
  c.result(size);
}

void sequence_mask_compute(Compute& c, const SequenceMaskAttrs& attrs) {
  const Axes i(c.out().rank());
  const int time = static_cast<int>(attrs.axis);
  const Halide::Expr length = c.in(1)(Index{i[1 - time]});
  Halide::Func masked = c.stage("sequence_mask");
  // In a type that holds both: positions in that of the lengths (bool, int8) would wrap.
  const Halide::Type type = length.type(),
                     wide = type.with_bits(type.is_float() ? std::max(32, type.bits()) : 64);
  masked(i.reversed()) = select(cast(wide, i[time]) < cast(wide, length), c.in(0)(i.exprs()),
                                constant_of(c.out().dtype(), attrs.mask_value));
  c.result(masked);
}

void trilu_compute(Compute& c, const TriluAttrs& attrs) {
  const Axes i(c.out().rank());
  // Beyond the corners all diagonals are the same; sums with positions do not overflow then.
  const Halide::Expr rows = wide_expr(c.out().shape()[c.out().rank() - 2]),
                     columns = wide_expr(c.out().shape()[c.out().rank() - 1]);
  const Halide::Expr right = i[-1] - i[-2],
                     k = Halide::cast<int>(clamp(Halide::cast<int64_t>(c.in(1)(Index{})), -rows, columns));
  Halide::Func kept = c.stage("trilu");
  kept(i.reversed()) =
      select(attrs.upper ? right >= k : right <= k, c.in(0)(i.exprs()), constant_of(c.out().dtype(), 0));
  c.result(kept);
}

// Row `k2 - d` of the diagonals goes to diagonal d; shorter ones are aligned at the left or at the right.
void matrix_set_diag_compute(Compute& c, const MatrixSetDiagAttrs& attrs) {
  const Tensor &data = c.in(0), &diagonal = c.in(1);
  const Axes i(data.rank());
  const Halide::Expr rows = data.size(-2), columns = data.size(-1);
  const int low = as_int(attrs.k1), high = as_int(attrs.k2);
  const Halide::Expr d = i[-1] - i[-2], length = min(rows + min(d, 0), columns - max(d, 0));
  Halide::Expr position = min(i[-1], i[-2]);
  if (low != high) {
    const Halide::Expr right =
        (d >= 0 && attrs.super_diag_right_align) || (d <= 0 && attrs.sub_diag_right_align);
    position = select(right, position + diagonal.size(-1) - length, position);
  }
  const Index all = i.exprs();
  Index at(all.begin(), all.end() - 2);
  if (low != high) at.push_back(clamp(high - d, 0, high - low));
  at.push_back(inside_axis(position, diagonal.dim(-1)));
  Halide::Func written = c.stage("matrix_set_diag");
  written(i.reversed()) = select(d >= low && d <= high, diagonal(at), data(all));
  c.result(written);
}

void unravel_index_compute(Compute& c, const NoAttrs&) {
  const Tensor &data = c.in(0), &shape = c.in(1);
  const Halide::Type type = halide_type(c.out().dtype());
  const Axes i(c.out().rank());
  const Index all = i.exprs();
  Halide::Expr rest = cast(type, data(Index(all.begin() + 1, all.end()))), result = cast(type, 0);
  for (int k = as_int(shape.extent(0)); k-- > 0;) {
    const Halide::Expr extent = cast(type, shape(Index{k}));
    result = select(i[0] == k, k == 0 ? rest : rest % extent, result);
    rest = rest / extent;
  }
  Halide::Func index = c.stage("unravel_index");
  index(i.reversed()) = result;
  c.result(index);
}

void invert_permutation_compute(Compute& c, const NoAttrs&) {
  const Axes i(1);
  const Domain r(c.in(0).dims());
  const Halide::Type type = halide_type(c.out().dtype());
  Halide::Func inverse = c.stage("invert_permutation");
  inverse(i.reversed()) = cast(type, 0);
  inverse(inside_axis(c.in(0)(r.exprs()), c.in(0).dim(0))) = cast(type, r[0]);
  c.result(inverse);
}

void reinterpret_compute(Compute& c, const CastAttrs&) {
  const Axes i(c.out().rank());
  if (c.in(0).dtype().bytes() != c.out().dtype().bytes())
    throw NotSupported("reinterpret from " + c.in(0).dtype().str() + " to " + c.out().dtype().str() +
                       ", which has another size");
  const Halide::Type type = halide_type(c.out().dtype());
  Halide::Func bits = c.stage("reinterpret");
  bits(i.reversed()) = Halide::reinterpret(type, c.in(0)(i.exprs()));
  c.result(bits);
}

RelationStatus strided_set_relation(RelationContext& ctx, const NoAttrs&) {
  const TensorTypeNode *data = ctx.tensor(0), *values = ctx.tensor(1), *begin = ctx.tensor(2);
  if (!data || !values || !begin) return kDefer;
  if (!check_rank(ctx, *values, data->rank(), 1)) return kFailed;
  if (values->dtype() != data->dtype())
    return fail_arg(ctx, 1,
                    "values of the data's element type are needed, " + data->dtype().str() + ", got " +
                        type_text(ctx.input(1)));
  for (int arg = 2; arg < 5; ++arg)
    if (ctx.tensor(arg) && !check_rank(ctx, *ctx.tensor(arg), 1, arg)) return kFailed;
  // The axes that are not sliced.
  for (int axis = 0; axis < data->rank(); ++axis)
    if (!begin->shape()[0].is_any() && axis >= begin->shape()[0].value() &&
        !check_extent(ctx, *values, axis, data->shape()[axis], 1, "values for the whole axis"))
      return kFailed;
  return ctx.assign_result(ctx.input(0));
}

// Begin, end and strides are values; they may name fewer axes than there are.
void strided_set_compute(Compute& c, const NoAttrs&) {
  const Tensor &data = c.in(0), &values = c.in(1), &begin = c.in(2), &end = c.in(3), &strides = c.in(4);
  const Axes i(data.rank());
  Index at = i.exprs();
  Halide::Expr inside = Halide::Internal::const_true();
  for (int k = 0; k < as_int(begin.extent(0)); ++k) {
    const Halide::Expr extent = data.size(k);
    const Halide::Expr step = k < strides.extent(0) ? Halide::cast<int>(strides(Index{k})) : Halide::Expr(1);
    // Ends beyond the data, such as the largest integer for "all", are clamped before conversion to 32 bits.
    auto bound = [&](const Tensor& from) {
      const Halide::Expr given = Halide::cast<int64_t>(from(Index{k})),
                         counted = select(given < 0, given + extent, given);
      return Halide::cast<int>(clamp(counted, Halide::cast<int64_t>(-1), Halide::cast<int64_t>(extent)));
    };
    const Halide::Expr first = bound(begin), last = k < end.extent(0) ? bound(end) : Halide::Expr(extent);
    const Halide::Expr back = step < 0, way = select(back, first - i[k], i[k] - first),
                       size = max(abs(step), 1);
    const Halide::Expr length = Halide::cast<int>(size);
    inside = inside && way >= 0 && way % length == 0 && select(back, i[k] > last, i[k] < last);
    at[k] = inside_axis(way / length, values.dim(k));
  }
  Halide::Func written = c.stage("strided_set");
  written(i.reversed()) = select(inside, values(at), data(i.exprs()));
  c.result(written);
}

}  // namespace

void shape_of_compute(Compute& c, const ShapeOfAttrs&) {
  const Axes i(1);
  Halide::Expr extent = constant_of(c.out().dtype(), 0);
  for (int k = 0; k < c.in(0).rank(); ++k)
    extent = select(i[0] == k, cast_to(c.out().dtype(), wide_expr(c.in(0).dim(k))), extent);
  Halide::Func extents = c.stage("shape_of");
  extents(i.reversed()) = extent;
  c.result(extents);
}

const OpDef& op_shape_of() {
  static const OpDef def = OpSpec<ShapeOfAttrs>{
      .name = "shape_of",
      .doc = "The extents of a tensor, as a vector.",
      .inputs = {{"data", "tensor"}},
      .relation = shape_of_relation,
      .compute = shape_of_compute,
      .python = "tensor.shape_of(data, dtype='int32')",
      .rules = op_rules(no_gradient(), MixedPrecision::kFollow, ValueOfType::kExtents),
      .test_shapes = {"(1)f32[-3, 3], dtype=int32", "(5, 3)f64[-3, 3], dtype=int32"},
  };
  return def;
}

const OpDef& op_ndarray_size() {
  static const OpDef def = OpSpec<NdarraySizeAttrs>{
      .name = "ndarray_size",
      .doc = "The number of elements; 0 for a scalar, as in Relay.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kInjective,
      .relation =
          [](RelationContext& ctx, const NdarraySizeAttrs& attrs) {
            return ctx.tensor(0) ? ctx.assign_result(scalar_type(or_int32(attrs.dtype))) : kDefer;
          },
      .compute = ndarray_size_compute,
      .python = "tensor.ndarray_size(data, dtype='int32')",
      .rules = op_rules(ValueOfType::kSize),
      .test_shapes = {"(2, 3)u8[0, 5], dtype=int32", "(2, 3)i32[-5, 5], dtype=int32", "()f32, dtype=int64"},
  };
  return def;
}

const OpDef& op_sequence_mask() {
  static const OpDef def = OpSpec<SequenceMaskAttrs>{
      .name = "sequence_mask",
      .doc = "The data with a value behind the end of each sequence.",
      .inputs = {{"data", "tensor: time and batch first"},
                 {"valid_length", "vector: the length of each sequence"}},
      .fuse = Fuse::kInjective,
      .relation = sequence_mask_relation,
      .compute = sequence_mask_compute,
      .python = "transform.sequence_mask(data, valid_length, mask_value=0, axis=0)",
      .test_shapes = {"(3, 4)f32, (3)i32{1, 4, 0}, mask_value=-1., axis=1"},
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
      .compute = matrix_set_diag_compute,
      .test_shapes = {"(3, 4)f32, (3)f32, k1=1, k2=1", "(2, 3, 4)f32, (2, 2, 3)f32, k1=0, k2=1"},
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
      .python = "transform",
      .test_shapes = {"(4, 5)f32, ()i32{-1}, upper=False", "(2, 3, 3)i32, ()i32{1}, upper=True"},
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
      .compute = unravel_index_compute,
      .python = "transform.unravel_index(indices, shape)",
      .test_shapes = {"(3)i32{22, 41, 37}, (2)i32{7, 6}"},
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
      .compute = invert_permutation_compute,
      .python = "transform",
      .test_shapes = {"(4)i32{2, 0, 1, 3}"},
  };
  return def;
}

const OpDef& op_reinterpret() {
  static const OpDef def = OpSpec<CastAttrs>{
      .name = "reinterpret",
      .doc = "The same bits as another element type.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kElementwise,
      .relation =
          [](RelationContext& ctx, const CastAttrs& attrs) {
            if (attrs.dtype.is_void()) return fail_attr(ctx, "dtype", "\"\"", "an element type is needed");
            return same_shape_relation(ctx, attrs.dtype);
          },
      .compute = reinterpret_compute,
      .python = "transform",
      .rules = op_rules(same_layout_flow()),
      .test_shapes = {"(4)f32, dtype=int32"},
  };
  return def;
}

const OpDef& op_strided_set() {
  static const OpDef def = OpSpec<NoAttrs>{
      .name = "strided_set",
      .doc = "The data with a strided slice written.",
      .inputs = {{"data", "tensor"},
                 {"v", "the slice"},
                 {"begin", "vector"},
                 {"end", "vector"},
                 {"strides", "vector"}},
      .fuse = Fuse::kInjective,
      .relation = strided_set_relation,
      .compute = strided_set_compute,
      .python = "transform.strided_set(data, v, begin, end, strides=None)",
      .test_shapes = {"(6)f32, (3)f32, (1)i64={1}, (1)i64={4}, (1)i64={1}",
                      "(5, 6)f32, (2, 6)f32, (2)i64={1, 0}, (2)i64={5, 6}, (2)i64={2, 1}"},
  };
  return def;
}

const OpDef& op_hardswish() {
  static const OpDef def = OpSpec<NoAttrs>{
      .name = "hardswish",
      .doc = "A name that quantisation passes know; it has no meaning of its own and cannot be called.",
      .inputs = {},
      .variadic = true,
      .relation =
          [](RelationContext& ctx, const NoAttrs&) {
            return fail_arg(ctx, -1,
                            "hardswish is no operator that can be called: write x * clip(x + 3, 0, 6) / 6");
          },
      .rules = op_rules(fake_quantized_function("qnn.hardswish")),
  };
  return def;
}

}  // namespace baton
