// Layouts that Baton's kernels are fast in (decision D9: what a kernel wants packed, Relay shows packed).
// This is what builds use; AlterOpLayout called by name is in alter_op_layout_by_name.cc.
//   nn.conv2d NCHW           ->  nn.contrib_conv2d_NCHWc, channels in blocks of at most one vector register
//   depthwise nn.conv2d      ->  nn.contrib_depthwise_conv2d_NCHWc
//   up to 7 taps an axis, where it is faster
//                            ->  nn.contrib_conv2d_winograd_without_weight_transform
//   nn.conv2d_transpose      ->  the same in blocks, or, of few output channels, with the weight by taps;
//                                also of one and three axes
//   nn.dense                 ->  nn.contrib_dense_pack, rows of the weight in blocks, the last filled up
// Convolutions and dense layers of integers are packed for instructions that sum the products of neighbouring
// channels: pairs of int16, which 8-bit operands are widened to, or fours of uint8 and int8
// (narrow_products.h).
// Weights are packed by layout_transforms, which FoldConstant computes.
#include "baton/transform/layout/alter_op_layout.h"

#include <algorithm>

#include "baton/ir/build.h"
#include "baton/ir/extent.h"
#include "baton/ir/rules/layer_kind.h"
#include "baton/ir/visit.h"
#include "baton/ops/rules/layout_rules.h"
#include "baton/schedule/kernel_choice.h"
#include "baton/schedule/layout_cost.h"
#include "baton/support/pointer_map.h"
#include "baton/transform/layout/layer_neighbours.h"
#include "baton/transform/layout/layout_flow.h"
#include "baton/transform/layout/layout_spreader.h"
#include "baton/transform/layout/narrow_products.h"
#include "baton/transform/layout/scalar_constants.h"
#include "baton/transform/layout/transposed_phases.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

LayoutState packed(const std::string& was, const std::string& now) {
  const LayoutState state{known_layout(was), known_layout(now)};
  BATON_CHECK(state.was && state.now, "layouts " + was + " and " + now);
  return state;
}

std::string block(const char* axes, int64_t size, char axis) { return axes + std::to_string(size) + axis; }

/// The types that products are computed in.
enum class ProductTypes { kFloat32, kIntegers };

bool is_narrow_integer(DType dtype) {
  return dtype == DType::int_(8) || dtype == DType::uint_(8) || dtype == DType::int_(16);
}

/// Nullopt where there is no template for a product of these types.
std::optional<ProductTypes> product_types(DType data, DType weight, DType result) {
  const DType f32 = DType::float_(32);
  if (data == f32 && weight == f32 && result == f32) return ProductTypes::kFloat32;
  if (is_narrow_integer(data) && is_narrow_integer(weight) && result == DType::int_(32))
    return ProductTypes::kIntegers;
  return std::nullopt;
}

using Preparations = std::vector<std::function<Expr(const Expr&)>>;

Expr widened(const Expr& value) { return call_op("cast", {value}, {{"dtype", DType::int_(16)}}); }

/// How a product of integers is computed.
struct IntegerProduct {
  int64_t summed = 1;    ///< neighbours along the sum that lie next to each other
  std::string splits;    ///< of the weight's last axis, in a layout: "2@", "4@", "2@2@"
  Preparations prepare;  ///< operands in int16, unless the processor multiplies 8-bit ones

  /// The end of the weight's layout, where `axis` is that of the sum.
  std::string neighbours(char axis) const {
    std::string text = splits;
    std::ranges::replace(text, '@', axis);
    return text;
  }
};

IntegerProduct integer_product(const CallNode& call, const DeviceSheet& sheet) {
  const auto* weight = as<ConstantNode>(call.args()[1]);
  const DType data = tensor_type_of(call.args()[0])->dtype();
  switch (weight ? byte_products(data, weight->value(), sheet) : ByteProducts::kNone) {
    case ByteProducts::kFours:
      return {4, "4@", Preparations(2)};
    case ByteProducts::kPairs:
      return {4, "2@2@", Preparations(2)};
    case ByteProducts::kNone:
      break;
  }
  Preparations all(2);
  for (size_t i = 0; i < 2; ++i)
    if (tensor_type_of(call.args()[i])->dtype() != DType::int_(16)) all[i] = widened;
  return {2, "2@", all};
}

bool is_empty(const std::vector<int64_t>& extents) { return std::ranges::find(extents, 0) != extents.end(); }

/// A convolution in NCHW and OIHW with known channels and taps; symbolic extents are usual ones.
struct Conv {
  ConvShape shape;
  bool symbolic = false;  ///< height or width are
  LayerSurroundings around;
  bool depthwise = false;
};

std::optional<Conv> plain_conv(const CallNode& call) {
  const TensorTypeNode *data = tensor_type_of(call.args()[0]), *weight = static_type_of(call.args()[1]);
  const auto* result = as_type<TensorTypeNode>(call.checked_type());
  const std::string out_layout = text_attr(call, "out_layout");
  if (!data || !weight || !result || text_attr(call, "data_layout") != "NCHW" ||
      text_attr(call, "kernel_layout") != "OIHW" || !(out_layout.empty() || out_layout == "NCHW"))
    return std::nullopt;
  const auto types = product_types(data->dtype(), weight->dtype(), result->dtype());
  if (data->shape()[1].is_any() || result->shape()[1].is_any()) return std::nullopt;
  const auto in = usual_extents(*data), kernel = weight->extents(), out = usual_extents(*result);
  if (!types || (types == ProductTypes::kIntegers && (is_empty(in) || is_empty(kernel) || is_empty(out))))
    return std::nullopt;
  const auto strides = ints_attr(call, "strides"), dilation = ints_attr(call, "dilation"),
             padding = ints_attr(call, "padding");
  Conv conv;
  conv.shape = {.batch = data->shape()[0].is_any() ? kUsualBatch : in[0],
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
                .groups = int_attr(call, "groups"),
                .float32 = types == ProductTypes::kFloat32};
  for (const size_t axis : {2, 3})
    conv.symbolic |= data->shape()[axis].is_any() || result->shape()[axis].is_any();
  conv.around = {.in_height = in[2],
                 .in_width = in[3],
                 .pad_top = padding.at(0),
                 .pad_left = padding.size() > 1 ? padding[1] : padding[0]};
  conv.depthwise = conv.shape.groups > 1 && conv.shape.groups == in[1] && out[1] == in[1];
  return conv;
}

std::optional<PlannedCall> alter_winograd(const CallNode& call, const ConvShape& shape, int64_t in_block,
                                          int64_t out_block, int tile_size) {
  const OpDef* op = find_op("nn.contrib_conv2d_winograd_without_weight_transform");
  const OpDef* weights = find_op("nn.contrib_conv2d_winograd_weight_transform");
  if (!op || !weights) return std::nullopt;
  const std::string data = block("NCHW", in_block, 'c'), out = block("NCHW", out_block, 'c');
  const std::string kernel = block("HWOI", in_block, 'i') + std::to_string(out_block) + "o";
  const bool unit_axis = shape.kernel_height == 1 || shape.kernel_width == 1;
  const auto transformed = [kernel, tile_size, unit_axis](const Expr& weight) -> Expr {
    const Expr transform = call_op("nn.contrib_conv2d_winograd_weight_transform", {weight},
                                   {{"tile_size", tile_size}, {"skip_unit_axes", unit_axis}});
    return call_op("layout_transform", {transform}, {{"src_layout", "HWOI"}, {"dst_layout", kernel}});
  };
  return PlannedCall{
      .op = op,
      .attrs = carry_attrs(*op, call,
                           {{"tile_size", tile_size},
                            {"data_layout", data},
                            {"kernel_layout", kernel},
                            {"out_layout", out},
                            {"channels", shape.out_channels},
                            {"kernel_size", std::vector<int64_t>{shape.kernel_height, shape.kernel_width}}}),
      .wants = "computes by Winograd's algorithm in " + data,
      .prepare = {{}, transformed},
      .inputs = {packed("NCHW", data), {}},
      .outputs = {packed("NCHW", out)}};
}

std::optional<PlannedCall> alter_conv2d(const CallNode& call, const LayerNeighbours& neighbours,
                                        const KernelChoice& choice, const DeviceSheet& sheet) {
  auto conv = plain_conv(call);
  if (conv)
    conv->around.data_blocked = neighbours.data_blocked,
    conv->around.result_blocked = neighbours.result_blocked;
  if (!conv || (conv->shape.groups != 1 && !conv->depthwise)) return std::nullopt;
  const ConvChoice chosen = choice.conv2d(conv->shape, sheet);
  const bool packs_integers = !conv->shape.float32 && !conv->depthwise;
  const IntegerProduct product = packs_integers ? integer_product(call, sheet) : IntegerProduct();
  const int64_t out_block = chosen.out_block,
                in_block = packs_integers ? integer_in_block(conv->shape.in_channels, product.summed)
                                          : chosen.in_block;
  if (out_block == 1) return std::nullopt;  // blocks of one channel gain nothing
  if (conv->shape.float32 && !choice.takes_blocks(conv->shape, conv->around, sheet)) return std::nullopt;
  if (!conv->depthwise && !conv->symbolic && chosen.algorithm.kind == ConvAlgorithm::Kind::kWinograd)
    if (auto altered = alter_winograd(call, conv->shape, in_block, out_block, chosen.algorithm.tile_size))
      return altered;
  const OpDef* op =
      find_op(conv->depthwise ? "nn.contrib_depthwise_conv2d_NCHWc" : "nn.contrib_conv2d_NCHWc");
  if (!op) return std::nullopt;
  const std::string data = block("NCHW", in_block, 'c'), out = block("NCHW", out_block, 'c');
  const std::string kernel = block("OIHW", conv->depthwise ? 1 : in_block / product.summed, 'i') +
                             std::to_string(out_block) + "o" + product.neighbours('i');
  return PlannedCall{
      .op = op,
      .attrs = carry_attrs(
          *op, call,
          {{"data_layout", data},
           {"kernel_layout", kernel},
           {"out_layout", out},
           {"channels", conv->shape.out_channels},
           {"kernel_size", std::vector<int64_t>{conv->shape.kernel_height, conv->shape.kernel_width}}}),
      .wants = "computes in " + data,
      .prepare = product.prepare,
      .inputs = {packed("NCHW", data), packed("OIHW", kernel)},
      .outputs = {packed("NCHW", out)}};
}

// Relay calls the weight's axes (in, out) OI for one and three spatial axes, but IO for two.
struct TransposeLayouts {
  const char *data, *spatial;
  char in, out;
};
constexpr TransposeLayouts kTransposeLayouts[] = {
    {"NCW", "W", 'O', 'I'}, {"NCHW", "HW", 'I', 'O'}, {"NCDHW", "DHW", 'O', 'I'}};

// The weight is read tap by tap: (blocks of output channels, taps, input channels, channel of the block), or
// (taps, input channels, output channels) in plain layouts.
std::optional<PlannedCall> alter_conv_transpose(const CallNode& call, const KernelChoice& choice,
                                                const DeviceSheet& sheet) {
  const TensorTypeNode *data = tensor_type_of(call.args()[0]), *weight = static_type_of(call.args()[1]);
  const auto* result = as_type<TensorTypeNode>(call.checked_type());
  if (!data || !weight || !result || data->dtype() != DType::float_(32) ||
      weight->dtype() != DType::float_(32) || result->dtype() != DType::float_(32))
    return std::nullopt;
  const auto given = extents_but_batch(data->shape()), made = extents_but_batch(result->shape());
  if (!given || !made) return std::nullopt;
  const size_t count = ints_attr(call, "strides").size();
  const TransposeLayouts& names = kTransposeLayouts[count - 1];
  const std::string plain = names.data, kernel = text_attr(call, "kernel_layout"),
                    out_layout = text_attr(call, "out_layout");
  if (text_attr(call, "data_layout") != plain || !(out_layout.empty() || out_layout == plain) ||
      kernel.size() != count + 2 || kernel.find('G') != std::string::npos)
    return std::nullopt;
  const auto &in = *given, &out = *made;
  const auto taps = weight->extents();
  const int64_t groups = int_attr(call, "groups");
  if (is_empty(in) || is_empty(taps) || is_empty(out) || in[1] % groups != 0 || out[1] % groups != 0)
    return std::nullopt;
  const ConvShape shape{.batch = in[0],
                        .in_channels = in[1],
                        .out_channels = out[1],
                        .out_width = out.back(),
                        .stride_width = ints_attr(call, "strides").back(),
                        .groups = groups};
  const ConvChoice chosen = choice.conv_transpose(shape, sheet);
  // Without strides it is a convolution by positions, which reads the taps of a channel one after the other.
  const bool strided = std::ranges::any_of(ints_attr(call, "strides"), [](int64_t s) { return s != 1; });
  if (chosen.out_block == 1 && !strided) return std::nullopt;
  const bool depthwise = groups > 1 && groups == in[1] && groups == out[1];
  const std::string spatial = names.spatial;
  std::string packed_data = plain, packed_out = plain, by_taps = spatial + names.in + names.out;
  if (chosen.out_block > 1) {
    packed_data = block(names.data, chosen.in_block, 'c'),
    packed_out = block(names.data, chosen.out_block, 'c');
    const char lane = static_cast<char>((depthwise ? names.in : names.out) - 'A' + 'a');
    by_taps = block((names.out + spatial + names.in).c_str(), chosen.out_block, lane);
  }
  if (by_taps == kernel) return std::nullopt;
  std::vector<int64_t> window;
  for (const char axis : spatial) window.push_back(taps[kernel.find(axis)]);
  return PlannedCall{
      .op = call.op(),
      .attrs = carry_attrs(*call.op(), call,
                           {{"data_layout", packed_data},
                            {"kernel_layout", by_taps},
                            {"out_layout", chosen.out_block > 1 ? packed_out : out_layout},
                            {"channels", out[1]},
                            {"kernel_size", window}}),
      .wants = chosen.out_block > 1 ? "computes in " + packed_out : "reads its weight in " + by_taps,
      .inputs = {packed(plain, packed_data), packed(kernel, by_taps)},
      .outputs = {packed(plain, packed_out)}};
}

bool reads_weight_as_given(const CallNode& dense, const KernelChoice& choice, const DeviceSheet& sheet) {
  const TensorTypeNode *data = tensor_type_of(dense.args()[0]), *weight = static_type_of(dense.args()[1]);
  if (!data || !weight || data->rank() != 2 || data->dtype() != DType::float_(32)) return false;
  const std::vector<int64_t> by = weight->extents();
  return !choice.packs_dense({.rows = usual_extents(*data)[0],
                              .units = by[0],
                              .depth = by[1],
                              .constant = as<ConstantNode>(dense.args()[1]) != nullptr},
                             sheet);
}

/// `weight` (NK) in the layout `packed`, with rows of zeros at its end that fill the last block.
Expr filled(const Expr& weight, int64_t rows, const std::string& packed) {
  NDArray zero = NDArray::empty({}, DType::float_(32));
  zero.as<float>()[0] = 0;
  const Expr padded =
      call_op("nn.pad", {weight, constant(std::move(zero))},
              {{"pad_width", AttrList{std::vector<int64_t>{0, rows}, std::vector<int64_t>{0, 0}}}});
  return call_op("layout_transform", {padded}, {{"src_layout", "NK"}, {"dst_layout", packed}});
}

/// `data` (..., depth) of `rank` axes with `columns` of zeros at the end of each row.
Expr deepened(const Expr& data, DType dtype, int rank, int64_t columns) {
  AttrList width(static_cast<size_t>(rank), std::vector<int64_t>{0, 0});
  width.back() = std::vector<int64_t>{0, columns};
  return call_op("nn.pad", {data, constant(NDArray::zeros({}, dtype))}, {{"pad_width", width}});
}

/// Features in blocks of `size`, terms in groups that one instruction sums; both are filled up with zeros.
std::optional<PlannedCall> alter_integer_dense(const CallNode& call, const OpDef& op, int64_t size,
                                               const DeviceSheet& sheet) {
  const TensorTypeNode *data = tensor_type_of(call.args()[0]), *weight = static_type_of(call.args()[1]);
  if (is_empty(usual_extents(*data)) || is_empty(weight->extents())) return std::nullopt;
  const IntegerProduct product = integer_product(call, sheet);
  const int64_t depth = weight->extents()[1],
                missing = (product.summed - depth % product.summed) % product.summed;
  const std::string kernel = block("NK", size, 'n') + product.neighbours('k');
  PlannedCall planned{
      .op = &op,
      .attrs = carry_attrs(
          op, call,
          {{"units", weight->extents()[0]}, {"weight_layout", kernel}, {"out_dtype", DType::int_(32)}}),
      .wants = "reads its weight in " + kernel,
      .prepare = product.prepare,
      .inputs = {{}, packed("NK", kernel)},
      .outputs = {{}}};
  if (missing > 0)
    planned.prepare[0] = [then = planned.prepare[0], dtype = data->dtype(), rank = data->rank(),
                          missing](const Expr& value) {
      const Expr deep = deepened(value, dtype, rank, missing);
      return then ? then(deep) : deep;
    };
  return planned;
}

std::optional<PlannedCall> alter_dense(const CallNode& call, const KernelChoice& choice,
                                       const DeviceSheet& sheet) {
  const OpDef* op = find_op("nn.contrib_dense_pack");
  const TensorTypeNode *data = tensor_type_of(call.args()[0]), *weight = static_type_of(call.args()[1]);
  const auto* result = as_type<TensorTypeNode>(call.checked_type());
  const auto types = data && weight && result ? product_types(data->dtype(), weight->dtype(), result->dtype())
                                              : std::nullopt;
  if (!op || !types || data->rank() < 2) return std::nullopt;
  const int64_t units = weight->extents()[0], size = choice.dense_block(units, sheet);
  if (size == 1) return std::nullopt;
  if (types == ProductTypes::kIntegers) return alter_integer_dense(call, *op, size, sheet);
  const std::string kernel = block("NK", size, 'n');
  PlannedCall planned{
      .op = op,
      .attrs = carry_attrs(*op, call,
                           {{"units", units}, {"weight_layout", kernel}, {"out_dtype", result->dtype()}}),
      .wants = "reads its weight in " + kernel,
      .inputs = {{}, packed("NK", kernel)},
      .outputs = {{}}};
  const int64_t missing = (size - units % size) % size;
  if (missing > 0) {
    // Otherwise it would be copied twice in every run; products have a template for plain weights.
    if (!as<ConstantNode>(call.args()[1])) return std::nullopt;
    planned.prepare = {{}, [kernel, missing](const Expr& plain) { return filled(plain, missing, kernel); }};
    planned.inputs[1] = {};
  }
  return planned;
}

/// What is altered, and what follows by the rules of the operators where inputs come in other layouts.
class FastLayouts final : public LayoutPlanner {
 public:
  /// `skips_users`: calls that a rule of the user's was asked for already stay.
  FastLayouts(const Function& function, const KernelChoice& choice, ChoiceOfCall choice_of,
              SheetOfCall sheet_of, bool skips_users)
      : choice_(choice),
        choice_of_(std::move(choice_of)),
        sheet_of_(std::move(sheet_of)),
        skips_users_(skips_users) {
    neighbours_ =
        neighbours_of_layers(function, [&](const CallNode& call) { return is_in_blocks(altered(call)); });
    find_wishes(function);
  }

  bool plans(const OpDef&) const override { return true; }

  std::optional<PlannedCall> plan(const CallNode& call, const std::vector<Expr>&,
                                  const LayoutStates& inputs) override {
    auto planned = altered(call);
    if (!planned) planned = wished(call, inputs);
    if (!planned) planned = followed(call, inputs);
    for (size_t i = 0; planned && i < inputs.size(); ++i)
      if (inputs[i].now && planned->inputs[i].now) planned->inputs[i].was = inputs[i].now;
    return planned;
  }

 private:
  std::optional<PlannedCall> altered(const CallNode& call) const {
    if (skips_users_ && op_hook(*call.op(), OpQuestion::kAlterOpLayout)) return std::nullopt;
    const auto* layer = call.op()->rules.get<LayerKind>();
    if (!layer) return std::nullopt;
    const DeviceSheet& sheet = sheet_of_(call);
    const KernelChoice* own = choice_of_ ? choice_of_(call) : nullptr;
    const KernelChoice& choice = own ? *own : choice_;
    switch (*layer) {
      case LayerKind::kDense:
        if (reads_weight_as_given(call, choice, sheet)) return std::nullopt;
        return alter_dense(call, choice, sheet);
      case LayerKind::kConvolutionTransposed:
        return alter_conv_transpose(call, choice, sheet);
      case LayerKind::kConvolution2D:
        break;
    }
    const LayerNeighbours* neighbours = neighbours_.find(&call);
    return alter_conv2d(call, neighbours ? *neighbours : LayerNeighbours(), choice, sheet);
  }

  static bool is_in_blocks(const std::optional<PlannedCall>& planned) {
    return planned && !planned->outputs.empty() && planned->outputs[0].changed();
  }

  /// Weights that are products of a constant and a factor known at run time only (of squeeze and excite, by
  /// FoldScaleAxis): computed in the layout that their reader wants, so that the constant is packed at
  /// compile time and only the factor at run time.
  void find_wishes(const Function& function) {
    PointerMap<int> uses;
    std::vector<const CallNode*> calls;
    post_order(Expr(function), [&](const Expr& node) {
      for_each_child(*node, [&](const Expr& child) { ++uses[child.get()]; });
      if (const auto* call = as<CallNode>(node); call && call->op()) calls.push_back(call);
    });
    for (const CallNode* call : calls) {
      const auto planned = altered(*call);
      for (size_t i = 0; planned && i < planned->inputs.size(); ++i) {
        const auto* made = as<CallNode>(call->args()[i]);
        const bool prepared = i < planned->prepare.size() && planned->prepare[i];
        if (made && made->op() && uses[made] == 1 && !prepared && planned->inputs[i].changed())
          wishes_.insert(made, planned->inputs[i]);
      }
    }
  }

  std::optional<PlannedCall> wished(const CallNode& call, const LayoutStates& inputs) const {
    const LayoutState* wish = wishes_.find(&call);
    if (!wish || inputs.size() != call.args().size() || std::ranges::any_of(inputs, &LayoutState::changed))
      return std::nullopt;
    LayoutStates wanted = inputs;
    for (size_t i = 0; i < wanted.size(); ++i)
      if (as<ConstantNode>(call.args()[i])) wanted[i] = *wish;
    return followed(call, wanted);
  }

  static std::optional<PlannedCall> followed(const CallNode& call, const LayoutStates& inputs) {
    const LayoutRule* rule = layout_rule_of(*call.op());
    if (!rule || std::ranges::none_of(inputs, &LayoutState::changed)) return std::nullopt;
    auto plan = rule->plan(call, inputs);
    if (!plan) return std::nullopt;
    const KnownLayout result = plan->outputs[0].now;
    return PlannedCall{.op = call.op(),
                       .attrs = plan->attrs ? plan->attrs : call.attrs(),
                       .wants = result ? "computes in " + result->str() : "computes as it is",
                       .inputs = std::move(plan->inputs),
                       .outputs = std::move(plan->outputs)};
  }

  const KernelChoice& choice_;
  const ChoiceOfCall choice_of_;
  const SheetOfCall sheet_of_;
  const bool skips_users_;
  PointerMap<LayerNeighbours> neighbours_;
  PointerMap<LayoutState> wishes_;  // by the call that makes the weight
};

// Calls of operators that the user has a rule for, by that rule.
Function altered_by_user(const Function& function, const IRModule& module) {
  const Function altered =
      let_layouts_flow(function, [](const CallNode& call, const std::vector<Expr>& args) {
        return wish_of_user(OpQuestion::kAlterOpLayout, call, args, {},
                            [] { return std::optional<WantedCall>(); });
      });
  return as_ref<FunctionNode>(infer_type(altered, module.get()));
}

}  // namespace

Pass fast_layouts(FindSheets find, ChoiceOfCall choice_of) {
  return function_pass(
      {3, "AlterOpLayout", {"InferType"}},
      [find = std::move(find), choice_of = std::move(choice_of)](
          const Function& function, const IRModule& module, const BuildContext& context) {
        if (function->attr(kLayoutsAreChosen)) return function;
        const bool asks = has_op_hooks(OpQuestion::kAlterOpLayout);
        const auto choice = choice_or_default(context.choice);
        const Function asked = asks ? altered_by_user(function, module) : function;
        const Function scalars = with_scalar_constants(asked);
        const Function phased = with_transposed_phases(scalars, *module, *choice, context.device());
        const Function narrow =
            as_ref<FunctionNode>(infer_type(narrow_products(phased, context.device()), module.get()));
        const SheetOfCall sheet_of =
            find ? find(narrow, module, context)
                 : [&](const CallNode&) -> const DeviceSheet& { return context.device(); };
        FastLayouts planner(narrow, *choice, choice_of, sheet_of, asks);
        return spread_layouts(narrow, planner);
      });
}

}  // namespace baton
