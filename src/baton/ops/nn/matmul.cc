// nn.matmul and nn.batch_matmul.
#include "baton/ir/op_names.h"
#include "baton/ir/rules/brief.h"
#include "baton/ir/rules/quantization_rule.h"
#include "baton/ops/compute_util.h"
#include "baton/ops/nn/matrix_products.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/int8_rules.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

struct MatmulAttrs {
  std::optional<int64_t> units = {};  ///< None: read from the second operand
  DType out_dtype = {};               ///< void: as the first operand
  bool transpose_a = false;
  bool transpose_b = false;
};

template <>
const AttrSchema& attr_schema<MatmulAttrs>() {
  using A = MatmulAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.MatmulAttrs",
                     {{"units", &A::units,
                       "number of columns of the result; None: read from the second operand", kNoDefault},
                      {"out_dtype", &A::out_dtype, "element type of the result; void: as the first operand"},
                      {"transpose_a", &A::transpose_a, "the first operand is stored (..., k, m)"},
                      {"transpose_b", &A::transpose_b, "the second operand is stored (n, k)"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<BatchMatmulAttrs>() {
  using A = BatchMatmulAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.BatchMatmulAttrs",
                     {{"out_dtype", &A::out_dtype, "element type of the result; void: as the data"},
                      {"transpose_a", &A::transpose_a, "the first operand is stored (b, k, m)"},
                      {"transpose_b", &A::transpose_b, "the second operand is stored (b, n, k)"}});
  return schema;
}

namespace {

RelationStatus matmul_relation(RelationContext& ctx, const MatmulAttrs& attrs) {
  const TensorTypeNode* a = ctx.tensor(0);
  if (!a) return kDefer;
  const int least = attrs.transpose_a ? 2 : 1;
  if (a->rank() < least)
    return fail_arg(
        ctx, 0,
        "a tensor of rank >= " + std::to_string(least) + " is needed, got " + type_text(ctx.input(0)));
  const TensorTypeNode* b = ctx.tensor(1);
  if (!b && !attrs.units) return kDefer;
  if (attrs.units && !check_least(ctx, "units", {&*attrs.units, 1}, 1)) return kFailed;
  if (b && !check_rank(ctx, *b, 2, 1)) return kFailed;
  std::vector<Dim> shape = a->shape();
  const size_t last = shape.size() - 1;
  if (attrs.transpose_a) std::swap(shape[last], shape[last - 1]);
  const Dim k = shape[last];
  const Dim units = attrs.units ? Dim(*attrs.units) : b->shape()[attrs.transpose_b ? 0 : 1];
  const std::vector<Dim> second = attrs.transpose_b ? std::vector<Dim>{units, k} : std::vector<Dim>{k, units};
  if (ctx.assign(1, tensor_type(second, b ? b->dtype() : a->dtype())) == kFailed) return kFailed;
  shape[last] = units;
  return ctx.assign_result(
      tensor_type(std::move(shape), attrs.out_dtype.is_void() ? a->dtype() : attrs.out_dtype));
}

// Stages "right" (the second operand, its columns innermost), "matmul" (the sum) and "out".
void matmul_compute(Compute& c, const MatmulAttrs& attrs) {
  const Axes i(c.out().rank());
  const Halide::Type type = halide_type(c.out().dtype());
  const Halide::RDom r(0, c.in(1).size(attrs.transpose_b ? 1 : 0), "r");
  Index a = i.exprs();
  a.back() = r.x;
  if (attrs.transpose_a) std::swap(a[a.size() - 1], a[a.size() - 2]);
  const Halide::Var n("n"), k("k");
  Halide::Func right = c.stage("right"), matmul = c.stage("matmul");
  right(n, k) = cast(type, attrs.transpose_b ? c.in(1)(n, k) : c.in(1)(k, n));
  matmul(i.reversed()) = cast(type, 0);
  matmul(i.reversed()) += cast(type, c.in(0)(a)) * right(i[-1], r.x);
  c.result(copy_stage(c, matmul));
}

// The batch of an operand for a batch of the result. A symbolic number of batches may be 1, too.
Halide::Expr batch_of(const Tensor& operand, Dim batches, const Halide::Expr& batch) {
  if (operand.dim(0) == 1) return 0;
  if (operand.dim(0) == batches || !operand.dim(0).is_symbolic()) return batch;
  return min(batch, operand.size(0) - 1);
}

// Stages "right" (the second operands, their columns innermost), "batch_matmul" (the sum) and "out". A batch
// of 1 is broadcast.
void batch_matmul_compute(Compute& c, const BatchMatmulAttrs& attrs) {
  const Tensor &a = c.in(0), &b = c.in(1);
  const Axes i(3);
  const Halide::Type type = halide_type(c.out().dtype());
  const Halide::RDom r(0, a.size(attrs.transpose_a ? 1 : 2), "r");
  const Halide::Expr batch_a = batch_of(a, c.out().shape()[0], i[0]),
                     batch_b = batch_of(b, c.out().shape()[0], i[0]);
  const Index left = attrs.transpose_a ? Index{batch_a, r.x, i[1]} : Index{batch_a, i[1], r.x};
  const Halide::Var n("n"), k("k"), batch("batch");
  Halide::Func right = c.stage("right"), product = c.stage("batch_matmul");
  right(n, k, batch) = cast(type, attrs.transpose_b ? b(batch, n, k) : b(batch, k, n));
  product(i.reversed()) = cast(type, 0);
  product(i.reversed()) += cast(type, a(left)) * right(i[2], r.x, batch_b);
  c.result(copy_stage(c, product));
}

struct Product {
  Expr left, right;
  bool transpose_left = false, transpose_right = false;
};

// y = a * b, with either operand transposed: the products that are the adjoints.
std::pair<Product, Product> product_adjoints(const Expr& a, const Expr& b, bool ta, bool tb, const Expr& g) {
  using namespace gradients;
  if (ta && tb) return {{b, g, true, true}, {g, a, true, true}};
  if (ta) return {{b, g, false, true}, {a, g, false, false}};
  if (tb) return {{g, b, false, false}, {g, a, true, false}};
  return {{g, b, false, true}, {a, g, true, false}};
}

GradientRule matmul_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    const bool ta = bool_attr(*call, "transpose_a"), tb = bool_attr(*call, "transpose_b");
    if (!ta && tb) return dense_adjoints(*call, g);
    const Expr &a = call->args()[0], &b = call->args()[1];
    if (tensor_arg(*call, 0).rank() != 2)
      refuse(*call, "is provided for two matrices, got " + type_text(a->checked_type()));
    const auto [left, right] = product_adjoints(a, b, ta, tb, g);
    const auto product = [](const Product& of) {
      return op("nn.matmul", {of.left, of.right},
                {{"transpose_a", of.transpose_left}, {"transpose_b", of.transpose_right}});
    };
    return Adjoints{collapse(product(left), a), collapse(product(right), b)};
  }};
}

GradientRule batch_matmul_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    const Expr &a = call->args()[0], &b = call->args()[1];
    const bool ta = bool_attr(*call, "transpose_a"), tb = bool_attr(*call, "transpose_b");
    const auto product = [](const Product& of) {
      return op(op_names::kBatchMatmul, {of.left, of.right},
                {{"transpose_a", of.transpose_left}, {"transpose_b", of.transpose_right}});
    };
    if (!ta && tb) {
      // Keeps the canonical form: the second operand is transposed.
      const std::vector<int64_t> swap{0, 2, 1};
      return Adjoints{collapse(product({g, transposed(b, swap), false, true}), a),
                      collapse(product({transposed(g, swap), transposed(a, swap), false, true}), b)};
    }
    const auto [left, right] = product_adjoints(a, b, ta, tb, g);
    return Adjoints{collapse(product(left), a), collapse(product(right), b)};
  }};
}

}  // namespace

namespace {

// The batch extent of two operands whose extents are equal, or one of which is 1.
Dim common_batch(Dim a, Dim b) {
  const auto is_unknown = [](Dim dim) { return dim.is_any() && !dim.is_symbolic(); };
  if (is_unknown(a) || is_unknown(b)) return Dim::any();
  if (a == b || b == Dim(1)) return a;
  if (a == Dim(1) || !b.is_any()) return b;
  return a.is_any() ? Dim::any() : a;
}

}  // namespace

RelationStatus batch_matmul_relation(RelationContext& ctx, const BatchMatmulAttrs& attrs) {
  const TensorTypeNode *a = ctx.tensor(0), *b = ctx.tensor(1);
  if (!a || !b) return kDefer;
  if (!check_rank(ctx, *a, 3, 0) || !check_rank(ctx, *b, 3, 1)) return kFailed;
  const Dim m = a->shape()[attrs.transpose_a ? 2 : 1], k = a->shape()[attrs.transpose_a ? 1 : 2];
  const Dim n = b->shape()[attrs.transpose_b ? 1 : 2], k2 = b->shape()[attrs.transpose_b ? 2 : 1];
  const Dim batch_a = a->shape()[0], batch_b = b->shape()[0];
  if (!may_equal(batch_a, batch_b) && batch_a != Dim(1) && batch_b != Dim(1))
    return fail_arg(ctx, 1,
                    "the batches are " + extent_text(batch_a) + " and " + extent_text(batch_b) +
                        ": they must be equal, or one of them 1");
  if (!may_equal(k, k2))
    return fail_arg(ctx, 1,
                    "the axes summed over are " + extent_text(k) + " and " + extent_text(k2) + " long");
  const Dim batch = common_batch(batch_a, batch_b);
  return ctx.assign_result(
      tensor_type(std::vector<Dim>{batch, m, n}, attrs.out_dtype.is_void() ? a->dtype() : attrs.out_dtype));
}

const OpDef& op_nn_matmul() {
  static const OpDef def = OpSpec<MatmulAttrs>{
      .name = "nn.matmul",
      .doc =
          "Product of matrices: out[..., i, j] = sum over k of a[..., i, k] * b[k, j], with either operand "
          "transposed before.",
      .inputs = {{"tensor_a", "tensor, (..., m, k)"}, {"tensor_b", "matrix (k, n)"}},
      .fuse = Fuse::kOutFusable,
      .relation = matmul_relation,
      .compute = matmul_compute,
      .cost = matmul_cost,
      .python =
          "nn.matmul(tensor_a, tensor_b, units=None, out_dtype='', transpose_a=False, transpose_b=False)",
      .rules = op_rules(matmul_brief(), matmul_gradient(), AnchorRule{"matmul"}),
      .test_shapes = {"(3, 5)f32, (5, 7)f32, units=None",
                      "(5, 3)f32, (7, 5)f32, units=None, transpose_a=True, transpose_b=True"},
  };
  return def;
}

const OpDef& op_nn_batch_matmul() {
  static const OpDef def = OpSpec<BatchMatmulAttrs>{
      .name = "nn.batch_matmul",
      .doc =
          "One matrix product per batch: out[b, i, j] = sum over k of tensor_a[b, i, k] * tensor_b[b, k, j].",
      .inputs = {{"tensor_a", "3-D tensor"}, {"tensor_b", "3-D tensor"}},
      .fuse = Fuse::kOutFusable,
      .relation = batch_matmul_relation,
      .compute = batch_matmul_compute,
      .cost = matmul_cost,
      .python = "nn.batch_matmul(tensor_a, tensor_b, out_dtype='', transpose_a=False, transpose_b=True)",
      .rules =
          op_rules(matmul_brief(), batch_matmul_gradient(), int8_batch_matmul_rule(), MixedPrecision::kAlways,
                   FakeQuantizationRule{fake_quantized_batch_matmul}, product_macs(),
                   QuantizationRule{QuantizationRule::Does::kProduct}, AnchorRule{"matmul"}),
      .test_shapes = {"(2, 2, 3)f32, (2, 3, 4)f32", "(1, 2, 3)f32, (5, 4, 3)f32, transpose_b=True"},
  };
  return def;
}

}  // namespace baton
