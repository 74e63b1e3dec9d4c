// Products and sums with sparse matrices, given as data, column indices and row starts: CSR when data is a
// vector, BSR (blocks) when it has three axes.
#include <functional>

#include "baton/ops/domain.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/shared/sort_compute.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

struct SparseDenseAttrs {
  bool sparse_lhs = false;  ///< the sparse matrix is the left operand
};

struct SparseTransposeAttrs {};

struct SparseConv2DAttrs {
  std::string layout = "NHWC";
  std::vector<int64_t> kernel_size{1, 1};
};

template <>
const AttrSchema& attr_schema<SparseDenseAttrs>() {
  static const AttrSchema schema = make_schema<SparseDenseAttrs>(
      "relay.attrs.SparseDenseAttrs",
      {{"sparse_lhs", &SparseDenseAttrs::sparse_lhs, "whether the sparse matrix is the left operand"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<SparseTransposeAttrs>() {
  static const AttrSchema schema = make_schema<SparseTransposeAttrs>("relay.attrs.SparseTransposeAttrs", {});
  return schema;
}

template <>
const AttrSchema& attr_schema<SparseConv2DAttrs>() {
  using A = SparseConv2DAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.SparseConv2DAttrs", {{"layout", &A::layout, "layout of the data, NHWC or NCHW"},
                                        {"kernel_size", &A::kernel_size, "height and width of the kernel"}});
  return schema;
}

namespace {

// Reports unless the sparse matrix of inputs `values` to `values` + 2 has a column for each value, and a
// start of the first row.
bool check_values(RelationContext& ctx, int values) {
  const TensorTypeNode &data = *ctx.tensor(values), &columns = *ctx.tensor(values + 1);
  if (!check_extent(ctx, columns, 0, data.shape()[0], values + 1, "a column of each value")) return false;
  if (!may_equal(ctx.tensor(values + 2)->shape()[0], 0) || ctx.tensor(values + 2)->shape()[0].is_any())
    return true;
  fail_arg(ctx, values + 2,
           "the starts of the rows and the end are needed, got " + type_text(ctx.input(values + 2)));
  return false;
}

// The rows of the sparse matrix whose data is input 1 and whose row starts are input 3.
std::optional<Dim> sparse_rows(RelationContext& ctx) {
  const TensorTypeNode &data = *ctx.tensor(1), &starts = *ctx.tensor(3);
  if (!check_rank(ctx, *ctx.tensor(2), 1, 2) || !check_rank(ctx, starts, 1, 3)) return std::nullopt;
  if (!check_values(ctx, 1)) return std::nullopt;
  const Dim count = starts.shape()[0];
  const std::optional<Dim> rows =
      count.is_any() ? count - 1 : checked_extent(ctx, static_cast<WideInt>(count.value()) - 1);
  if (!rows) return std::nullopt;
  return data.rank() == 1 ? rows : checked_product(ctx, {*rows, data.shape()[1]});
}

RelationStatus sparse_dense_relation(RelationContext& ctx, const SparseDenseAttrs& attrs) {
  const TensorTypeNode *dense = ctx.tensor(0), *data = ctx.tensor(1);
  if (!dense || !data || !ctx.tensor(2) || !ctx.tensor(3)) return kDefer;
  if (!check_rank(ctx, *dense, 2, 0)) return kFailed;
  if (data->rank() != 1 && data->rank() != 3)
    return fail_arg(
        ctx, 1, "the data of a sparse matrix has 1 axis (CSR) or 3 (BSR), got " + type_text(ctx.input(1)));
  const std::optional<Dim> rows = sparse_rows(ctx);
  if (!rows) return kFailed;
  const Dim m = dense->shape()[0];
  return ctx.assign_result(tensor_type(
      attrs.sparse_lhs ? std::vector<Dim>{*rows, m} : std::vector<Dim>{m, *rows}, dense->dtype()));
}

RelationStatus sparse_conv2d_relation(RelationContext& ctx, const SparseConv2DAttrs& attrs) {
  const TensorTypeNode *dense = ctx.tensor(0), *data = ctx.tensor(1);
  if (!dense || !data || !ctx.tensor(2) || !ctx.tensor(3)) return kDefer;
  if (attrs.layout != "NHWC" && attrs.layout != "NCHW")
    return fail_attr(ctx, "layout", "\"" + attrs.layout + "\"", "it must be \"NHWC\" or \"NCHW\"");
  if (!check_rank(ctx, *dense, 4, 0) || !check_lists(ctx, {{"kernel_size", &attrs.kernel_size}}, 2))
    return kFailed;
  if (data->rank() < 1 || data->rank() > 3)
    return fail_arg(
        ctx, 1,
        "the data of a sparse kernel has 1 axis (CSR), or 2 or 3 (blocks), got " + type_text(ctx.input(1)));
  const std::optional<Dim> rows = sparse_rows(ctx);
  if (!rows) return kFailed;
  std::vector<Dim> shape = dense->shape();
  shape[attrs.layout == "NHWC" ? 3 : 1] = *rows;
  return ctx.assign_result(tensor_type(std::move(shape), dense->dtype()));
}

RelationStatus sparse_add_relation(RelationContext& ctx, const NoAttrs&) {
  const TensorTypeNode *dense = ctx.tensor(0), *data = ctx.tensor(1);
  if (!dense || !data || !ctx.tensor(2) || !ctx.tensor(3)) return kDefer;
  if (!check_rank(ctx, *dense, 2, 0)) return kFailed;
  for (int i = 1; i < 4; ++i)
    if (!check_rank(ctx, *ctx.tensor(i), 1, i)) return kFailed;
  if (!check_values(ctx, 1)) return kFailed;
  if (dense->dtype() != data->dtype())
    return fail_arg(
        ctx, 1,
        "the matrices have different element types: " + dense->dtype().str() + " and " + data->dtype().str());
  return ctx.assign_result(ctx.input(0));
}

RelationStatus sparse_transpose_relation(RelationContext& ctx, const SparseTransposeAttrs&) {
  if (!ctx.tensor(0) || !ctx.tensor(1) || !ctx.tensor(2)) return kDefer;
  for (int i = 0; i < 3; ++i)
    if (!check_rank(ctx, *ctx.tensor(i), 1, i)) return kFailed;
  if (!check_values(ctx, 0)) return kFailed;
  return ctx.assign_result(tuple_type({ctx.input(0), ctx.input(1), ctx.input(2)}));
}

// row_of(e): the row of the e-th value (or block), by counting row starts.
Halide::Func row_of_values(Compute& c, const Tensor& starts, int64_t count) {
  const Halide::Var e("e");
  const int rows = as_int(starts.extent(0) - 1);
  Halide::Func row = c.stage("row_of");
  row(e) = 0;
  if (rows > 1) {
    Halide::RDom r(1, rows - 1, "b");
    const Halide::Expr at = Halide::cast<int>(starts(Index{r}));
    r.where(at >= 0 && at < as_int(count));
    row(inside_axis(at, count)) += 1;
  }
  if (count > 1) {
    const Halide::RDom later(1, as_int(count - 1), "s");
    row(later) += row(later - 1);
  }
  return row;
}

// Values outside all rows are after the last start.
Halide::Expr held(const Tensor& starts, const Halide::Expr& e) {
  return e < Halide::cast<int>(starts(Index{as_int(starts.extent(0) - 1)}));
}

// result(at of (sparse row), others) += value * dense(at column), for all values. `to` gives the result's
// index in Relay order from a row; `from` that of the dense operand from a column.
void multiply_rows(Compute& c, const char* name, const Axes& i,
                   const std::function<Index(const Halide::Expr&)>& to,
                   const std::function<Index(const Halide::Expr&)>& from, int64_t rows, int64_t columns) {
  const Tensor &dense = c.in(0), &values = c.in(1), &places = c.in(2), &starts = c.in(3);
  const Halide::Type type = sum_type(c.out().dtype());
  const bool blocks = values.rank() == 3;
  const int64_t count = values.extent(0), high = blocks ? values.extent(1) : 1,
                wide = blocks ? values.extent(2) : 1;
  const Halide::Func row_of = row_of_values(c, starts, count);
  Domain r({count, high, wide});
  r.where(held(starts, r[0]));
  const Halide::Expr row = row_of(r[0]) * as_int(high) + r[1],
                     column = Halide::cast<int>(places(Index{r[0]})) * as_int(wide) + r[2];
  const Halide::Expr value = blocks ? values(Index{r[0], r[1], r[2]}) : values(Index{r[0]});
  Halide::Func sum = c.stage(name);
  sum(i.reversed()) = cast(type, 0);
  sum(reversed(to(inside_axis(row, rows)))) +=
      cast(type, value) * cast(type, dense(from(inside_axis(column, columns))));
  Halide::Func out = c.stage("out");
  out(i.reversed()) = cast_to(c.out().dtype(), sum(i.reversed()));
  c.result(out);
}

// Input 0 (m, k) times the transposed sparse matrix of inputs 1 to 3; with `sparse_lhs` the result is
// transposed.
void sparse_dense_compute(Compute& c, bool sparse_lhs) {
  const Axes i(2);
  const int row_axis = sparse_lhs ? 0 : 1;
  auto to = [&](const Halide::Expr& row) {
    Index at = i.exprs();
    at[row_axis] = row;
    return at;
  };
  auto from = [&](const Halide::Expr& column) { return Index{i[1 - row_axis], column}; };
  multiply_rows(c, "sparse_dense", i, to, from, c.out().extents()[row_axis], c.in(0).extent(1));
}

// The product of the sparse matrix with the channels of each pixel.
void sparse_conv2d_compute(Compute& c, bool channels_last) {
  const Axes i(4);
  const int axis = channels_last ? 3 : 1;
  auto at = [&](const Halide::Expr& channel) {
    Index index = i.exprs();
    index[axis] = channel;
    return index;
  };
  multiply_rows(c, "sparse_conv2d", i, at, at, c.out().extents()[axis], c.in(0).extent(axis));
}

void sparse_add_compute(Compute& c) {
  const Tensor &dense = c.in(0), &values = c.in(1), &places = c.in(2), &starts = c.in(3);
  const Axes i(2);
  const Halide::Func row_of = row_of_values(c, starts, values.extent(0));
  Domain r(values.shape());
  r.where(held(starts, r[0]));
  Halide::Func sum = c.stage("sparse_add");
  sum(i.reversed()) = dense(i.exprs());
  sum(inside_axis(places(Index{r[0]}), dense.extent(1)), inside_axis(row_of(r[0]), dense.extent(0))) +=
      values(Index{r[0]});
  c.result(sum);
}

// Inputs and results: values, columns, row starts.
// Sorted by column the values stand as in the transpose, since the sort keeps the order of rows.
void sparse_transpose_compute(Compute& c) {
  const Tensor &values = c.in(0), &places = c.in(1), &starts = c.in(2);
  const int count = as_int(values.extent(0)), rows = as_int(starts.extent(0) - 1);
  const Halide::Var e("e"), k("k");
  const Halide::Func row_of = row_of_values(c, starts, count), sorted = sorted_pairs(c, places, 0, true);
  Halide::Func data = c.stage("data"), indices = c.stage("indices"), ends = c.stage("indptr");
  const Halide::Expr from = inside_axis(sorted(e)[1], count);
  data(e) = values(Index{from});
  indices(e) = cast_to(c.out(1).dtype(), row_of(from));
  const Halide::Type type = halide_type(c.out(2).dtype());
  ends(k) = cast(type, 0);
  if (count > 0) {
    const Halide::RDom r(0, count, "r");
    ends(inside_axis(Halide::cast<int>(places(Index{r})) + 1, rows + 1)) += cast(type, 1);
  }
  if (rows > 0) {
    const Halide::RDom later(1, rows, "s");
    ends(later) += ends(later - 1);
  }
  c.results({data, indices, ends});
}

}  // namespace

const OpDef& op_nn_sparse_dense() {
  static const OpDef def = OpSpec<SparseDenseAttrs>{
      .name = "nn.sparse_dense",
      .doc =
          "The dense matrix times the transposed sparse one, or, with sparse_lhs, the sparse one times the "
          "transposed dense one.",
      .inputs = {{"dense_data", "matrix (m, k)"},
                 {"sparse_data", "the values: a vector, or blocks (n, rows, columns)"},
                 {"sparse_indices", "their columns"},
                 {"sparse_indptr", "where each row starts, and the end"}},
      .fuse = Fuse::kOutFusable,
      .relation = sparse_dense_relation,
      .compute = [](Compute& c, const SparseDenseAttrs& attrs) { sparse_dense_compute(c, attrs.sparse_lhs); },
      .cost = sparse_product_cost,
      .test_shapes = {"(2, 4)f32, (3)f32, (3)i32{0, 2, 3}, (4)i32{0, 1, 3, 3}"},
  };
  return def;
}

const OpDef& op_nn_internal_sparse_dense_padded() {
  static const OpDef def = OpSpec<SparseDenseAttrs>{
      .name = "nn.internal.sparse_dense_padded",
      .doc = "nn.sparse_dense with rows padded to a multiple of a GPU's warp.",
      .inputs = {{"data", "matrix (m, k)"},
                 {"weight_data", "the values: a vector, or blocks (n, rows, columns)"},
                 {"weight_indices", "their columns"},
                 {"weight_indptr", "where each row starts, and the end"}},
      .fuse = Fuse::kOutFusable,
      .relation = sparse_dense_relation,
      .compute = [](Compute& c, const SparseDenseAttrs& attrs) { sparse_dense_compute(c, attrs.sparse_lhs); },
      .cost = sparse_product_cost,
      .test_shapes = {"(2, 4)f32, (3)f32, (3)i32{0, 2, 3}, (4)i32{0, 1, 3, 3}"},
  };
  return def;
}

const OpDef& op_nn_sparse_conv2d() {
  static const OpDef def = OpSpec<SparseConv2DAttrs>{
      .name = "nn.sparse_conv2d",
      .doc =
          "Convolution over height and width with a sparse kernel; the result has the extents of the data.",
      .inputs = {{"dense_data", "4-D tensor in `layout`"},
                 {"sparse_data", "the values: a vector, or blocks"},
                 {"sparse_indices", "their columns"},
                 {"sparse_indptr", "where each row starts, and the end"}},
      .fuse = Fuse::kOutFusable,
      .relation = sparse_conv2d_relation,
      .compute =
          [](Compute& c, const SparseConv2DAttrs& attrs) {
            if (attrs.kernel_size != std::vector<int64_t>{1, 1})
              throw NotSupported("nn.sparse_conv2d with a kernel that is not 1 x 1");
            if (c.in(1).rank() == 2) throw NotSupported("nn.sparse_conv2d with values of rank 2");
            sparse_conv2d_compute(c, attrs.layout == "NHWC");
          },
      .cost = sparse_product_cost,
      .test_shapes = {"(1, 3, 5, 8)f32, (4, 2, 1)f32, (4)i32{0, 3, 5, 7}, (5)i32{0, 1, 2, 3, 4}"},
  };
  return def;
}

const OpDef& op_nn_sparse_add() {
  static const OpDef def = OpSpec<>{
      .name = "nn.sparse_add",
      .doc = "The sum of a dense matrix and a sparse one.",
      .inputs = {{"dense_data", "matrix"},
                 {"sparse_data", "the values, a vector"},
                 {"sparse_indices", "their columns"},
                 {"sparse_indptr", "where each row starts, and the end"}},
      .relation = sparse_add_relation,
      .compute = [](Compute& c, const NoAttrs&) { sparse_add_compute(c); },
      .test_shapes = {"(2, 4)f32, (3)f32, (3)i32{0, 2, 3}, (3)i32{0, 1, 3}"},
  };
  return def;
}

const OpDef& op_nn_sparse_transpose() {
  static const OpDef def = OpSpec<SparseTransposeAttrs>{
      .name = "nn.sparse_transpose",
      .doc = "The transpose of a square sparse matrix, as a tuple of data, indices and row starts.",
      .inputs = {{"sparse_data", "the values, a vector"},
                 {"sparse_indices", "their columns"},
                 {"sparse_indptr", "where each row starts, and the end"}},
      .fuse = Fuse::kOutFusable,
      .relation = sparse_transpose_relation,
      .compute = [](Compute& c, const SparseTransposeAttrs&) { sparse_transpose_compute(c); },
      .test_shapes = {"(3)f32, (3)i32{0, 2, 3}, (5)i32{0, 1, 3, 3, 3}"},
  };
  return def;
}

}  // namespace baton
