#include "baton/ir/rules/layout_flow_rules.h"
#include "baton/ops/nn/dense_pack_compute.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"

namespace baton {

const OpDef& op_nn_contrib_dense_pack() {
  static const OpDef def = OpSpec<DensePackAttrs>{
      .name = "nn.contrib_dense_pack",
      .doc =
          "nn.dense with a packed weight: out[i, b * n + j] = sum over k of data[i, k] * weight[b, k, j], n "
          "the block.",
      .inputs = {{"data", "matrix (rows, k)"}, {"weight", "tensor (units / n, k, n)"}},
      .fuse = Fuse::kOutFusable,
      .relation =
          [](RelationContext& ctx, const DensePackAttrs& attrs) {
            const TensorTypeNode *data = ctx.tensor(0), *weight = ctx.tensor(1);
            if (!data || !weight) return kDefer;
            if (!check_rank(ctx, *data, 2, 0) || !check_rank(ctx, *weight, 3, 1)) return kFailed;
            const Dim k = data->shape()[1], depth = weight->shape()[1];
            if (!k.is_any() && !depth.is_any() && k != depth)
              return fail_arg(ctx, 1,
                              "data of shape " + shape_text(data->shape()) + " need a weight of depth " +
                                  std::to_string(k.value()) + ", got " + type_text(ctx.input(1)));
            const Dim units = times(weight->shape()[0], weight->shape()[2]);
            const DType dtype = attrs.out_dtype.is_void() ? data->dtype() : attrs.out_dtype;
            return ctx.assign_result(tensor_type({data->shape()[0], units}, dtype));
          },
      .compute = dense_pack_compute,
      .cost = dense_cost,
      .python = "nn.contrib_dense_pack(data, weight, weight_layout='NC', units=None, out_dtype='')",
      .rules = op_rules(dense_layout_flow(), AnchorRule{"gemm"}),
      .test_shapes = {"(2, 5)f32, (3, 5, 4)f32, units=12, weight_layout=NC4n",
                      "(7, 16)f32, (4, 16, 16)f32, units=64, weight_layout=NC16n"},
  };
  return def;
}

}  // namespace baton
