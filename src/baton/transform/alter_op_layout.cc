// Layouts that Baton's kernels are fast in (decision D9: what a kernel wants packed, Relay shows packed). This is what
// builds use; AlterOpLayout called by name is in alter_op_layout_by_name.cc.
//   nn.conv2d NCHW           ->  nn.contrib_conv2d_NCHWc, channels in blocks of at most one vector register
//   depthwise nn.conv2d      ->  nn.contrib_depthwise_conv2d_NCHWc
//   3x3, where it is faster  ->  nn.contrib_conv2d_winograd_without_weight_transform
//   nn.dense                 ->  nn.contrib_dense_pack, rows of the weight in blocks
// Weights are packed by layout_transforms, which FoldConstant computes.
#include "baton/transform/alter_op_layout.h"

#include "baton/schedule/conv_algorithm.h"
#include "baton/transform/build.h"
#include "baton/transform/infer_type.h"
#include "baton/transform/layout_flow.h"
#include "baton/transform/layout_rewriter.h"

namespace baton {

namespace {

Layout layout(const std::string& text) {
  const auto parsed = Layout::parse(text);
  BATON_CHECK(parsed, "layout " + text);
  return *parsed;
}

LayoutState packed(const std::string& was, const std::string& now) { return {layout(was), layout(now)}; }

std::string block(const char* axes, int64_t size, char axis) { return axes + std::to_string(size) + axis; }

/// A convolution in NCHW and OIHW with all extents known.
struct Conv {
  ConvShape shape;
  bool depthwise = false;
};

std::optional<Conv> plain_conv(const CallNode& call) {
  const TensorTypeNode *data = static_type_of(call.args()[0]), *weight = static_type_of(call.args()[1]);
  const auto* result = as_type<TensorTypeNode>(call.checked_type());
  const std::string out_layout = text_attr(call, "out_layout");
  if (!data || !weight || !result || !result->is_static() || text_attr(call, "data_layout") != "NCHW" ||
      text_attr(call, "kernel_layout") != "OIHW" || !(out_layout.empty() || out_layout == "NCHW") ||
      data->dtype() != DType::float_(32) || weight->dtype() != DType::float_(32) ||
      result->dtype() != DType::float_(32))
    return std::nullopt;
  const auto in = data->extents(), kernel = weight->extents(), out = result->extents();
  const auto strides = ints_attr(call, "strides"), dilation = ints_attr(call, "dilation");
  Conv conv;
  conv.shape = {.batch = in[0],
                .in_channels = in[1],
                .out_channels = out[1],
                .out_height = out[2],
                .out_width = out[3],
                .kernel_height = kernel[2],
                .kernel_width = kernel[3],
                .stride_height = strides.at(0),
                .stride_width = strides.back(),
                .dilation_height = dilation.at(0),
                .dilation_width = dilation.back(),
                .groups = int_attr(call, "groups")};
  conv.depthwise = conv.shape.groups > 1 && conv.shape.groups == in[1] && out[1] == in[1];
  return conv;
}

std::optional<AlteredCall> alter_winograd(const CallNode& call, const ConvShape& shape, int64_t in_block,
                                          int64_t out_block, int tile_size) {
  const OpDef* op = find_op("nn.contrib_conv2d_winograd_without_weight_transform");
  const OpDef* weights = find_op("nn.contrib_conv2d_winograd_weight_transform");
  if (!op || !weights) return std::nullopt;
  const std::string data = block("NCHW", in_block, 'c'), out = block("NCHW", out_block, 'c');
  const std::string kernel = block("HWOI", in_block, 'i') + std::to_string(out_block) + "o";
  AlteredCall altered;
  altered.op = op->name;
  altered.plan = {
      {packed("NCHW", data), {}},
      {packed("NCHW", out)},
      carry_attrs(*op, call,
                  {{"tile_size", tile_size},
                   {"data_layout", data},
                   {"kernel_layout", kernel},
                   {"out_layout", out},
                   {"channels", shape.out_channels},
                   {"kernel_size", std::vector<int64_t>{shape.kernel_height, shape.kernel_width}}})};
  altered.wants = "computes by Winograd's algorithm in " + data;
  altered.prepare = {
      {}, [kernel, tile_size](const Expr& weight) -> Expr {
        const Expr transformed =
            call_op("nn.contrib_conv2d_winograd_weight_transform", {weight}, {{"tile_size", tile_size}});
        return call_op("layout_transform", {transformed}, {{"src_layout", "HWOI"}, {"dst_layout", kernel}});
      }};
  return altered;
}

std::optional<AlteredCall> alter_conv2d(const CallNode& call, const Machine& machine) {
  const auto conv = plain_conv(call);
  if (!conv || (conv->shape.groups != 1 && !conv->depthwise)) return std::nullopt;
  const int64_t in_block = channel_block(conv->shape.in_channels, machine);
  const int64_t out_block = channel_block(conv->shape.out_channels, machine);
  if (out_block == 1) return std::nullopt;  // blocks of one channel gain nothing
  if (!conv->depthwise) {
    const ConvAlgorithm algorithm = choose_conv_algorithm(conv->shape, machine);
    if (algorithm.kind == ConvAlgorithm::Kind::kWinograd)
      if (auto altered = alter_winograd(call, conv->shape, in_block, out_block, algorithm.tile_size))
        return altered;
  }
  const OpDef* op =
      find_op(conv->depthwise ? "nn.contrib_depthwise_conv2d_NCHWc" : "nn.contrib_conv2d_NCHWc");
  if (!op) return std::nullopt;
  const std::string data = block("NCHW", in_block, 'c'), out = block("NCHW", out_block, 'c');
  const std::string kernel =
      block("OIHW", conv->depthwise ? 1 : in_block, 'i') + std::to_string(out_block) + "o";
  AlteredCall altered;
  altered.op = op->name;
  altered.plan = {{packed("NCHW", data), packed("OIHW", kernel)},
                  {packed("NCHW", out)},
                  carry_attrs(*op, call,
                              {{"data_layout", data},
                               {"kernel_layout", kernel},
                               {"out_layout", out},
                               {"channels", conv->shape.out_channels},
                               {"kernel_size",
                                std::vector<int64_t>{conv->shape.kernel_height, conv->shape.kernel_width}}})};
  altered.wants = "computes in " + data;
  return altered;
}

std::optional<AlteredCall> alter_dense(const CallNode& call, const Machine& machine) {
  const OpDef* op = find_op("nn.contrib_dense_pack");
  const TensorTypeNode *data = static_type_of(call.args()[0]), *weight = static_type_of(call.args()[1]);
  const auto* result = as_type<TensorTypeNode>(call.checked_type());
  if (!op || !data || !weight || !result || data->rank() != 2 || data->dtype() != DType::float_(32) ||
      weight->dtype() != DType::float_(32) || result->dtype() != DType::float_(32))
    return std::nullopt;
  const int64_t size = dense_block(weight->extents()[0], machine);
  if (size == 1) return std::nullopt;
  const std::string kernel = block("NK", size, 'n');
  AlteredCall altered;
  altered.op = op->name;
  altered.plan = {{{}, packed("NK", kernel)},
                  {{}},
                  carry_attrs(*op, call, {{"weight_layout", kernel}, {"out_dtype", result->dtype()}})};
  altered.wants = "reads its weight in " + kernel;
  return altered;
}

// Calls of operators that the user has a rule for, by that rule.
Function altered_by_user(const Function& function, const IRModule& module) {
  const Function altered = spread_layouts(function, [](const CallNode& call, const std::vector<Expr>& args) {
    return wish_of_user(OpQuestion::kAlterOpLayout, call, args, {}, [] { return std::optional<WantedCall>(); });
  });
  return as_ref<FunctionNode>(infer_type(altered, module.get()));
}

}  // namespace

Pass alter_op_layout_for(const Machine& machine) {
  return function_pass({3, "AlterOpLayout", {"InferType"}}, [machine](const Function& function, const IRModule& module, const PassContext&) {
    const bool asks = has_op_hooks(OpQuestion::kAlterOpLayout);
    return change_layouts(asks ? altered_by_user(function, module) : function,
                          [&](const CallNode& call) -> std::optional<AlteredCall> {
                            if (asks && op_hook(*call.op(), OpQuestion::kAlterOpLayout)) return std::nullopt;
                            if (call.op()->name == "nn.conv2d") return alter_conv2d(call, machine);
                            if (call.op()->name == "nn.dense") return alter_dense(call, machine);
                            return std::nullopt;
                          });
  });
}

}  // namespace baton
