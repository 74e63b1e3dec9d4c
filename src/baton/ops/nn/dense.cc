#include "baton/ir/rules/layout_flow_rules.h"
#include "baton/ops/nn/dense_compute.h"
#include "baton/ops/nn/matmul_relations.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/gradient_rules.h"
#include "baton/ops/rules/int8_rules.h"
#include "baton/ops/rules/scale_rules.h"

namespace baton {

RelationStatus dense_relation(RelationContext& ctx, const DenseAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (data->rank() < 1)
    return fail_arg(ctx, 0, "data of rank >= 1 is needed, got " + type_text(ctx.input(0)));
  const TensorTypeNode* weight = ctx.tensor(1);
  if (!weight && !attrs.units) return kDefer;
  if (weight && !check_rank(ctx, *weight, 2, 1)) return kFailed;
  const Dim k = data->shape().back();
  const Dim units = attrs.units ? Dim(*attrs.units) : weight->shape()[0];
  const DType weight_dtype = weight ? weight->dtype() : data->dtype();
  if (ctx.assign(1, tensor_type(std::vector<Dim>{units, k}, weight_dtype)) == kFailed) return kFailed;
  std::vector<Dim> shape = data->shape();
  shape.back() = units;
  return ctx.assign_result(
      tensor_type(std::move(shape), attrs.out_dtype.is_void() ? data->dtype() : attrs.out_dtype));
}

const OpDef& op_nn_dense() {
  static const OpDef def = OpSpec<DenseAttrs>{
      .name = "nn.dense",
      .doc = "data times the transposed weight: out[..., j] = sum over k of data[..., k] * weight[j, k].",
      .inputs = {{"data", "tensor of rank >= 1, k innermost"}, {"weight", "matrix (units, k)"}},
      .fuse = Fuse::kOutFusable,
      .relation = dense_relation,
      .compute = dense_compute,
      .cost = dense_cost,
      .python = "nn.dense(data, weight, units=None, out_dtype='')",
      .rules = op_rules(dense_scale_rule(), dense_gradient(), dense_layout_flow(), int8_dense_rule(),
                        MixedPrecision::kAlways, FakeQuantizationRule{fake_quantized_dense}, product_macs(),
                        AnchorRule{"rows"}),
      .test_shapes = {"(1, 1)f32, (1, 1)f32, units=1", "(3, 7)f64, (5, 7)f64, units=None",
                      "(2, 3, 5)f32, (4, 5)f32, units=None",
                      "(2, 3)i8[-9, 9], (4, 3)i8[-9, 9], units=4, out_dtype=int32"},
  };
  return def;
}

}  // namespace baton
