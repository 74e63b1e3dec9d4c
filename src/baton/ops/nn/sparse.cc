// Products and sums with sparse matrices, given as data, column indices and row starts: CSR when data is a
// vector, BSR (blocks) when it has three axes.
#include "baton/ops/nn/sparse_nn_compute.h"
#include "baton/ops/op_spec.h"
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

// The rows of the sparse matrix whose data is input 1 and whose row starts are input 3.
std::optional<Dim> sparse_rows(RelationContext& ctx) {
  const TensorTypeNode &data = *ctx.tensor(1), &starts = *ctx.tensor(3);
  if (!check_rank(ctx, *ctx.tensor(2), 1, 2) || !check_rank(ctx, starts, 1, 3)) return std::nullopt;
  if (starts.shape()[0].is_any()) return Dim::any();
  const std::optional<Dim> rows = checked_extent(ctx, static_cast<WideInt>(starts.shape()[0].value()) - 1);
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
  return ctx.assign_result(tuple_type({ctx.input(0), ctx.input(1), ctx.input(2)}));
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
