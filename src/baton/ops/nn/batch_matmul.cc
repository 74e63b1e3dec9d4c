#include "baton/ops/nn/batch_matmul_compute.h"
#include "baton/ops/nn/matmul_relations.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/gradient_rules.h"
#include "baton/ops/rules/int8_rules.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

namespace {

// Whether both may be the same extent: they are, or one is `?`.
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
                    "the batches are " + std::to_string(batch_a.value()) + " and " +
                        std::to_string(batch_b.value()) + ": they must be equal, or one of them 1");
  if (!may_equal(k, k2))
    return fail_arg(ctx, 1,
                    "the axes summed over are " + std::to_string(k.value()) + " and " +
                        std::to_string(k2.value()) + " long");
  const Dim batch =
      batch_a.is_any() || batch_b.is_any() ? Dim::any() : Dim(std::max(batch_a.value(), batch_b.value()));
  return ctx.assign_result(
      tensor_type(std::vector<Dim>{batch, m, n}, attrs.out_dtype.is_void() ? a->dtype() : attrs.out_dtype));
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
      .rules = op_rules(batch_matmul_gradient(), int8_batch_matmul_rule(), MixedPrecision::kAlways,
                        FakeQuantizationRule{fake_quantized_batch_matmul}, product_macs()),
      .test_shapes = {"(2, 2, 3)f32, (2, 3, 4)f32", "(1, 2, 3)f32, (5, 4, 3)f32, transpose_b=True"},
  };
  return def;
}

}  // namespace baton
