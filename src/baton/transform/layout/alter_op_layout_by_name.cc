// AlterOpLayout called by name: the layouts of TVM 0.11.1 on x86, by rules that only look at shapes (builds
// use alter_op_layout.cc).
//   nn.conv2d NCHW, OIHW  ->  nn.contrib_conv2d_NCHWc
//                             blocks: the largest divisor of the channels that fits a vector register; of
//                             input channels at most as many as of output channels
//   the same, depthwise   ->  nn.contrib_depthwise_conv2d_NCHWc
//   nn.dense              ->  nn.contrib_dense_pack
//                             blocks: the most rows of the weight that fit two registers
// Other groups, layouts and operators stay. A rule registered by the user takes precedence.
#include "baton/ir/build.h"
#include "baton/ir/rules/layer_kind.h"
#include "baton/pass/pass.h"
#include "baton/target/processor.h"
#include "baton/transform/layout/layout_flow.h"

namespace baton {

namespace {

/// The largest number up to `most` that divides `extent`.
int64_t block_of(int64_t extent, int64_t most) {
  int64_t block = std::max<int64_t>(std::min(extent, most), 1);
  while (extent % block != 0) --block;
  return block;
}

std::string blocks(const char* axes, int64_t size, char axis) { return axes + std::to_string(size) + axis; }

std::optional<WantedCall> wanted_conv2d(const CallNode& call, int lanes) {
  const TensorTypeNode *data = tensor_type_of(call.args()[0]), *weight = static_type_of(call.args()[1]);
  if (!data || !weight || text_attr(call, "data_layout") != "NCHW" ||
      text_attr(call, "kernel_layout") != "OIHW")
    return std::nullopt;
  const Dim in = data->shape()[1];
  const auto kernel = weight->extents();
  const int64_t groups = int_attr(call, "groups"), out = kernel[0];
  if (in.is_any() || in.value() < 1 || out < 1) return std::nullopt;
  const bool depthwise = groups > 1 && groups == in.value() && groups == out;
  if (groups != 1 && !depthwise) return std::nullopt;
  const OpDef* op = find_op(depthwise ? "nn.contrib_depthwise_conv2d_NCHWc" : "nn.contrib_conv2d_NCHWc");
  BATON_CHECK(op, "packed convolutions");
  const int64_t out_block = block_of(out, lanes), in_block = block_of(in.value(), out_block);
  const std::string layout = blocks("NCHW", in_block, 'c'), result = blocks("NCHW", out_block, 'c');
  const std::string packed = blocks("OIHW", depthwise ? 1 : in_block, 'i') + std::to_string(out_block) + "o";
  return WantedCall{op,
                    carry_attrs(*op, call,
                                {{"data_layout", layout},
                                 {"kernel_layout", packed},
                                 {"out_layout", result},
                                 {"channels", out},
                                 {"kernel_size", std::vector<int64_t>{kernel[2], kernel[3]}}}),
                    "computes in " + layout};
}

std::optional<WantedCall> wanted_dense(const CallNode& call, int lanes) {
  const TensorTypeNode *data = tensor_type_of(call.args()[0]), *weight = tensor_type_of(call.args()[1]);
  const auto* result = as_type<TensorTypeNode>(call.checked_type());
  if (!data || !weight || !result || data->rank() != 2 || weight->shape()[0].is_any() ||
      weight->shape()[0].value() < 1)
    return std::nullopt;
  const OpDef* op = find_op("nn.contrib_dense_pack");
  BATON_CHECK(op, "packed dense layers");
  const std::string packed = blocks("NC", block_of(weight->shape()[0].value(), 2 * lanes), 'n');
  return WantedCall{op, make_attrs(*op->attrs, {{"weight_layout", packed}, {"out_dtype", result->dtype()}}),
                    "reads its weight in " + packed};
}

}  // namespace

Pass alter_op_layout() {
  return function_pass({3, "AlterOpLayout", {"InferType"}}, [](const Function& function, const IRModule&,
                                                               const BuildContext& context) {
    const Target* target = context.target();
    const int lanes = target ? float_lanes(*target) : context.host().float_lanes;
    return let_layouts_flow(function, [&](const CallNode& call, const std::vector<Expr>& args) {
      return wish_of_user(OpQuestion::kAlterOpLayout, call, args, {}, [&]() -> std::optional<WantedCall> {
        const auto* layer = call.op()->rules.get<LayerKind>();
        if (!layer || *layer == LayerKind::kConvolutionTransposed) return std::nullopt;
        return *layer == LayerKind::kDense ? wanted_dense(call, lanes) : wanted_conv2d(call, lanes);
      });
    });
  });
}

}  // namespace baton
