#include "baton/ops/nn/conv/conv2d_relation.h"
#include "baton/ops/nn/conv/packed_conv_compute.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"

namespace baton {

const OpDef& op_nn_contrib_conv2d_winograd_without_weight_transform() {
  static const OpDef def = OpSpec<Conv2DWinogradAttrs>{
      .name = "nn.contrib_conv2d_winograd_without_weight_transform",
      .doc =
          "nn.conv2d with a 3x3 kernel by Winograd's algorithm; the weight was transformed before, for the "
          "same tile_size.",
      .inputs = {{"data", "tensor in data_layout"},
                 {"weight", "result of nn.contrib_conv2d_winograd_weight_transform, possibly packed"}},
      .fuse = Fuse::kOutFusable,
      .relation =
          [](RelationContext& ctx, const Conv2DWinogradAttrs& attrs) {
            return packed_conv2d_relation(ctx, plain_attrs(attrs));
          },
      .compute = conv2d_winograd_compute,
      .cost = conv_cost,
      .rules = op_rules(conv_layout_flow(), AnchorRule{"conv_winograd"}),
      .test_shapes =
          {"(1, 3, 8, 8)f32, (4, 4, 3, 8)f32, tile_size=2, padding=[1, 1], channels=8, kernel_size=[3, 3]"},
  };
  return def;
}

const OpDef& op_nn_contrib_conv2d_winograd_weight_transform() {
  static const OpDef def = OpSpec<ConvWinogradWeightTransformAttrs>{
      .name = "nn.contrib_conv2d_winograd_weight_transform",
      .doc =
          "The weight of a 3x3 convolution as Winograd's algorithm wants it: (O, I, 3, 3) -> (t + 2, t + 2, "
          "O, I), t = tile_size.",
      .inputs = {{"weight", "tensor (O, I, height, width)"}},
      .fuse = Fuse::kOutFusable,
      .relation =
          [](RelationContext& ctx, const ConvWinogradWeightTransformAttrs& attrs) {
            const TensorTypeNode* weight = ctx.tensor(0);
            if (!weight) return kDefer;
            if (!check_rank(ctx, *weight, 4, 0)) return kFailed;
            if (!check_least(ctx, "tile_size", {&attrs.tile_size, 1}, 1)) return kFailed;
            std::vector<Dim> shape;
            for (int axis : {2, 3}) {
              const Dim kernel = weight->shape()[axis];
              shape.push_back(kernel.is_any() ? kernel : Dim(kernel.value() + attrs.tile_size - 1));
            }
            shape.push_back(weight->shape()[0]);
            shape.push_back(weight->shape()[1]);
            return ctx.assign_result(tensor_type(std::move(shape), weight->dtype()));
          },
      .compute = winograd_weight_transform_compute,
      .test_shapes = {"(4, 3, 3, 3)f32, tile_size=2"},
  };
  return def;
}

}  // namespace baton
