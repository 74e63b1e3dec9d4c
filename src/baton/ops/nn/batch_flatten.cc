#include "baton/ir/rules/quantization_rule.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/shared/reindex.h"

namespace baton {

const OpDef& op_nn_batch_flatten() {
  static const OpDef def = OpSpec<>{
      .name = "nn.batch_flatten",
      .doc = "All axes but the first become one.",
      .inputs = {{"data", "tensor of rank >= 1"}},
      .fuse = Fuse::kInjective,
      .relation =
          [](RelationContext& ctx, const NoAttrs&) {
            const TensorTypeNode* data = ctx.tensor(0);
            if (!data) return kDefer;
            if (data->rank() < 1)
              return fail_arg(ctx, 0, "data of rank >= 1 is needed, got " + type_text(ctx.input(0)));
            const std::span<const Dim> dims = data->shape();
            return ctx.assign_result(
                tensor_type(std::vector<Dim>{dims[0], product(dims.subspan(1))}, data->dtype()));
          },
      .compute = [](Compute& c, const NoAttrs&) { reshape_compute(c, "batch_flatten"); },
      .reshape_only = true,
      .rules =
          op_rules(reshape_gradient(), MixedPrecision::kFollow, FakeQuantizationRule{fake_quantized_reshape},
                   QuantizationRule{QuantizationRule::Does::kSame}),
      .test_shapes = {"(3, 4)f32[-3, 3]"},
  };
  return def;
}

}  // namespace baton
