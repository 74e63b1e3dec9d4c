// Sparse tensors: values with their indices, one a row.
#include <algorithm>

#include "baton/ir/rules/shape_rule.h"
#include "baton/ops/domain.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/shared/reindex.h"
#include "baton/ops/tensor/dynamic_forms.h"

namespace baton {

struct SparseToDenseAttrs {
  Ints output_shape = {};
};

template <>
const AttrSchema& attr_schema<SparseToDenseAttrs>() {
  using A = SparseToDenseAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.SparseToDenseAttrs",
                     {{"output_shape", &A::output_shape, "the shape of the result", kNoDefault}});
  return schema;
}

bool check_sparse_indices(RelationContext& ctx, int64_t rank) {
  const TensorTypeNode *indices = ctx.tensor(0), *values = ctx.tensor(1);
  if (!indices || !values) return true;
  if (indices->rank() > 2 || (indices->rank() < 2 && rank > 1)) {
    fail_arg(ctx, 0,
             "one row of coordinates per value is needed, for a result of rank " + std::to_string(rank) +
                 ", got " + type_text(ctx.input(0)));
    return false;
  }
  if (indices->rank() == 2 &&
      !check_extent(ctx, *indices, 1, rank, 0, "one coordinate for each axis of the result"))
    return false;
  const Dim count = indices->rank() == 0 ? Dim(1) : indices->shape()[0];
  return values->rank() == 0 || (check_rank(ctx, *values, 1, 1) &&
                                 check_extent(ctx, *values, 0, count, 1, "a value for each index"));
}

namespace {

RelationStatus sparse_to_dense_relation(RelationContext& ctx, const SparseToDenseAttrs& attrs) {
  const TensorTypeNode* values = ctx.tensor(1);
  if (!ctx.tensor(0) || !values) return kDefer;
  if (!check_least(ctx, "output_shape", attrs.output_shape, 0) ||
      !check_sparse_indices(ctx, static_cast<int64_t>(attrs.output_shape.size())))
    return kFailed;
  return ctx.assign_result(tensor_type(attrs.output_shape, values->dtype()));
}

// indices (n, rank), values (n), dense shape (rank): one row is added for each empty row.
RelationStatus sparse_fill_empty_rows_relation(RelationContext& ctx, const NoAttrs&) {
  const TensorTypeNode *indices = ctx.tensor(0), *values = ctx.tensor(1), *shape = ctx.tensor(2);
  if (!indices || !values || !shape) return kDefer;
  if (!check_rank(ctx, *indices, 2, 0) || !check_rank(ctx, *values, 1, 1) || !check_rank(ctx, *shape, 1, 2) ||
      !check_extent(ctx, *values, 0, indices->shape()[0], 1, "a value for each index") ||
      !check_extent(ctx, *indices, 1, shape->shape()[0], 0, "one coordinate for each axis"))
    return kFailed;
  if (may_equal(indices->shape()[1], 0) && !indices->shape()[1].is_any())
    return fail_arg(ctx, 0, "a scalar has no rows to fill, got " + type_text(ctx.input(0)));
  const DType int64 = DType::int_(64);
  return ctx.assign_result(tuple_type({tensor_type(std::vector<Dim>{Dim::any(), indices->shape()[1]}, int64),
                                       tensor_type(std::vector<Dim>{Dim::any()}, int64),
                                       tensor_type(std::vector<Dim>{Dim::any()}, int64)}));
}

RelationStatus sparse_reshape_relation(RelationContext& ctx, const NoAttrs&) {
  const TensorTypeNode *indices = ctx.tensor(0), *before = ctx.tensor(1), *after = ctx.tensor(2);
  if (!indices || !before || !after) return kDefer;
  if (!check_rank(ctx, *indices, 2, 0) || !check_rank(ctx, *before, 1, 1) || !check_rank(ctx, *after, 1, 2) ||
      !check_extent(ctx, *indices, 1, before->shape()[0], 0, "one coordinate for each axis"))
    return kFailed;
  const Dim rank = after->shape()[0];
  return ctx.assign_result(
      tuple_type({tensor_type(std::vector<Dim>{indices->shape()[0], rank}, indices->dtype()),
                  tensor_type(std::vector<Dim>{rank}, after->dtype())}));
}

}  // namespace

void sparse_to_dense_compute(Compute& c) {
  const Tensor &indices = c.in(0), &values = c.in(1);
  const Axes i(c.out().rank());
  const std::vector<Dim>& out = c.out().shape();
  Domain r({indices.rank() == 0 ? Dim(1) : indices.dim(0)});
  Index to;
  Halide::Expr inside = Halide::Internal::const_true();
  for (int k = 0; k < i.rank(); ++k) {
    const Halide::Expr at = indices.rank() == 0   ? indices(Index{})
                            : indices.rank() == 1 ? indices(Index{r[0]})
                                                  : indices(Index{r[0], k});
    inside = inside && at >= cast(at.type(), 0) && at < cast(at.type(), as_expr(out[k]));
    to.push_back(inside_axis(at, out[k]));
  }
  r.where(inside);
  Halide::Func dense = c.stage("sparse_to_dense");
  dense(i.reversed()) = cast_to(c.out().dtype(), c.num_inputs() > 2 ? c.in(2)(Index{}) : Halide::Expr(0));
  dense(reversed(to)) = cast_to(c.out().dtype(), values.rank() == 0 ? values(Index{}) : values(Index{r[0]}));
  c.result(dense);
}

namespace {

// Inputs: indices, values, shape, value for empty rows. Results: indices, values, whether a row was empty.
// A value's place is the number of values of the rows before, filled or not, and of those before it in its
// row: the values are taken in the order of their rows.
void sparse_fill_empty_rows_compute(Compute& c) {
  const Tensor &indices = c.in(0), &values = c.in(1);
  const int given = as_int(indices.extent(0)), rank = as_int(indices.extent(1));
  const int count = as_int(c.out(0).extents()[0]), rows = as_int(c.out(2).extents()[0]);
  const Halide::Var n("n"), k("k");
  const Halide::RDom r(0, given, "r");
  auto row_of = [&](const Halide::Expr& at) { return inside_axis(indices(Index{at, 0}), rows); };
  Halide::Func held = c.stage("held"), start = c.stage("start"), before = c.stage("before");
  held(n) = 0;
  held(row_of(r)) += 1;
  start(n) = select(n == 0, 0, max(held(clamp(n - 1, 0, std::max(rows, 1) - 1)), 1));
  if (rows > 1) {
    const Halide::RDom later(1, rows - 1, "s");
    start(later) += start(later - 1);
  }
  before(n) = 0;  // number of values of the same row before value n
  if (given > 0) {
    const Halide::RDom earlier(0, given, "e");
    before(n) += select(earlier < n && row_of(earlier) == row_of(clamp(n, 0, given - 1)), 1, 0);
  }
  auto place = [&](const Halide::Expr& at) { return inside_axis(start(row_of(at)) + before(at), count); };

  Halide::Func empty = c.stage("empty"), all_indices = c.stage("indices"), all_values = c.stage("values");
  empty(n) = cast_to(c.out(2).dtype(), select(held(n) == 0, 1, 0));
  const Halide::RDom each(0, rows, "w");
  all_indices(k, n) = cast_to(c.out(0).dtype(), 0);
  // Every row begins with its own index; values then overwrite it.
  all_indices(k, inside_axis(start(each), count)) =
      cast_to(c.out(0).dtype(), select(k == 0, Halide::Expr(each), 0));
  all_indices(k, place(r)) = cast_to(c.out(0).dtype(), indices(Index{r, clamp(k, 0, rank - 1)}));
  all_values(n) = cast_to(c.out(1).dtype(), c.in(3)(Index(c.in(3).rank(), Halide::Expr(0))));
  all_values(place(r)) = cast_to(c.out(1).dtype(), values(Index{r}));
  c.results({all_indices, all_values, empty});
}

// Inputs: indices, shape, new shape (-1 is inferred). Results: indices and shape.
void sparse_reshape_compute(Compute& c) {
  const Tensor &indices = c.in(0), &before = c.in(1), &after = c.in(2);
  const int old_rank = as_int(before.extent(0)), rank = as_int(after.extent(0));
  const Halide::Expr one = Halide::cast<int64_t>(1);
  auto extent = [](const Tensor& shape, int k) { return Halide::cast<int64_t>(shape(Index{k})); };
  Halide::Expr total = one, known = one;
  for (int k = 0; k < old_rank; ++k) total = total * extent(before, k);
  for (int k = 0; k < rank; ++k) known = known * select(extent(after, k) < 0, one, extent(after, k));
  std::vector<Halide::Expr> extents;
  for (int k = 0; k < rank; ++k)
    extents.push_back(select(extent(after, k) < 0, total / known, extent(after, k)));

  const Axes i(2), j(1, "j");
  Halide::Expr flat = Halide::cast<int64_t>(0), moved = Halide::cast<int64_t>(0);
  for (int k = 0; k < old_rank; ++k)
    flat = flat * extent(before, k) + Halide::cast<int64_t>(indices(Index{i[0], k}));
  Halide::Expr shape = Halide::cast<int64_t>(0);
  Halide::Expr same = Halide::Internal::const_true();
  for (int k = rank; k-- > 0; flat = flat / extents[k]) {
    moved = select(i[1] == k, k == 0 ? flat : flat % extents[k], moved);
    shape = select(j[0] == k, extents[k], shape);
    if (old_rank == rank) same = same && extent(before, k) == extent(after, k);
  }
  // Under equal shapes also indices outside of the shape stay as they are.
  if (old_rank == rank) moved = select(same, Halide::cast<int64_t>(indices(Index{i[0], i[1]})), moved);
  Halide::Func new_indices = c.stage("indices"), new_shape = c.stage("shape");
  new_indices(i.reversed()) = cast_to(c.out(0).dtype(), moved);
  new_shape(j.reversed()) = cast_to(c.out(1).dtype(), shape);
  c.results({new_indices, new_shape});
}

// The number of rows without values in a sparse matrix.
int64_t empty_rows(const NDArray& indices, const NDArray& dense_shape) {
  const std::vector<int64_t> all = integers_of(indices), extents = integers_of(dense_shape);
  if (extents.empty() || extents[0] < 0 || extents[0] > INT32_MAX)
    throw NotSupported("sparse_fill_empty_rows needs a shape with rows");
  std::vector<bool> filled(extents[0], false);
  for (size_t k = 0; k < all.size(); k += indices.shape()[1])
    if (all[k] >= 0 && all[k] < extents[0]) filled[all[k]] = true;
  return std::count(filled.begin(), filled.end(), false);
}

std::vector<std::vector<int64_t>> filled_shapes(const Attrs&, const std::vector<NDArray>& inputs) {
  const int64_t count = inputs[0].shape()[0] + empty_rows(inputs[0], inputs[2]);
  return {{count, inputs[0].shape()[1]}, {count}, {integers_of(inputs[2])[0]}};
}

}  // namespace

const OpDef& op_sparse_to_dense() {
  static const OpDef def = OpSpec<SparseToDenseAttrs>{
      .name = "sparse_to_dense",
      .doc = "A tensor with values at some indices and default_value elsewhere.",
      .inputs = {{"sparse_indices", "indices of the values, one a row"},
                 {"sparse_values", "the values"},
                 {"default_value", "scalar"}},
      .relation = sparse_to_dense_relation,
      .compute = [](Compute& c, const SparseToDenseAttrs&) { sparse_to_dense_compute(c); },
      .cost = moving_cost,
      .test_shapes = {"(2, 2)i32{0, 1, 2, 3}, (2)f32, ()f32={0}, output_shape=[3, 4]"},
  };
  return def;
}

const OpDef& op_sparse_fill_empty_rows() {
  static const OpDef def = OpSpec<NoAttrs>{
      .name = "sparse_fill_empty_rows",
      .doc = "Sparse values with one more in each row that has none.",
      .inputs = {{"sparse_indices", "indices of the values, one a row"},
                 {"sparse_values", "the values"},
                 {"dense_shape", "vector of extents"},
                 {"default_value", "scalar"}},
      .relation = sparse_fill_empty_rows_relation,
      .compute = [](Compute& c, const NoAttrs&) { sparse_fill_empty_rows_compute(c); },
      .data_dependent = true,
      .python = "transform",
      .rules = op_rules(ShapeRule{filled_shapes}, ResultCount{3}),
      .test_shapes = {"(3, 2)i64{0, 1, 2, 0, 2, 3}, (3)f32, (2)i64{4, 5}, ()f32{0.5}"},
  };
  return def;
}

const OpDef& op_sparse_reshape() {
  static const OpDef def = OpSpec<NoAttrs>{
      .name = "sparse_reshape",
      .doc = "The indices of sparse values in another shape.",
      .inputs = {{"sparse_indices", "indices, one a row"},
                 {"prev_shape", "vector of extents"},
                 {"new_shape", "vector of extents; -1 is inferred"}},
      .fuse = Fuse::kInjective,
      .relation = sparse_reshape_relation,
      .compute = [](Compute& c, const NoAttrs&) { sparse_reshape_compute(c); },
      .python = "transform",
      .rules = op_rules(ResultCount{2}),
      .test_shapes = {"(3, 2)i64{0, 1, 2, 0, 2, 3}, (2)i64{4, 6}, (3)i64{2, 2, -1}",
                      "(3, 2)i64{0, 7, 2, 0, -1, 3}, (2)i64{4, 6}, (2)i64{4, 6}"},
  };
  return def;
}

}  // namespace baton
