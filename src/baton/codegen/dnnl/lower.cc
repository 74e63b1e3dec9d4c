#include "baton/codegen/dnnl/lower.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "baton/byoc/pattern_rewrite.h"
#include "baton/codegen/dnnl/gelu.h"
#include "baton/codegen/dnnl/layer_norm.h"
#include "baton/codegen/dnnl/quantized.h"
#include "baton/codegen/dnnl/views.h"
#include "baton/ir/inspect.h"
#include "baton/ir/layout.h"
#include "baton/ir/op_names.h"
#include "baton/ir/visit.h"
#include "baton/support/error.h"

namespace baton {
namespace {

using namespace dnnl_blob;

constexpr size_t kMostPosts = 8;
/// Input channels up to which post-operations may join a transposed convolution with strides: where oneDNN
/// 3.2's `brgconv_strided` splits the sum over these, it applies bias and post-operations once for each part
/// (seen from 512 on with AVX-512; never up to 384).
constexpr int64_t kMostStridedChannels = 64;

std::optional<ElementType> element_type(DType dtype) {
  if (dtype == DType::float_(32)) return ElementType::kFloat32;
  if (dtype == DType::int_(32)) return ElementType::kInt32;
  if (dtype == DType::int_(8)) return ElementType::kInt8;
  if (dtype == DType::uint_(8)) return ElementType::kUint8;
  return std::nullopt;
}

[[noreturn]] void refuse(const std::string& why) { throw NotSupported(why); }

Dims ints(const std::vector<int64_t>& values, size_t count, int64_t fallback) {
  if (values.empty()) return Dims(count, fallback);
  return values.size() == 1 ? Dims(count, values[0]) : values;
}

/// Padding as given to convolutions and pools: one value, one per axis, or all befores and then all afters.
void set_padding(Step& step, const std::vector<int64_t>& padding, size_t axes) {
  if (padding.size() == 2 * axes) {
    step.before.assign(padding.begin(), padding.begin() + static_cast<ptrdiff_t>(axes));
    step.after.assign(padding.begin() + static_cast<ptrdiff_t>(axes), padding.end());
  } else {
    step.before = step.after = ints(padding, axes, 0);
  }
}

/// The position in `layout` of each letter of `wanted`.
std::vector<int> order_of(const std::string& layout, const std::string& wanted) {
  const auto parsed = Layout::parse(layout);
  std::vector<int> order;
  for (const char letter : wanted) order.push_back(parsed ? parsed->find(letter) : -1);
  if (!parsed || parsed->rank() != static_cast<int>(wanted.size()) || std::ranges::count(order, -1))
    refuse("layout " + layout + " is none of plain axes " + wanted);
  return order;
}

const std::map<std::string, Algorithm>& elementwise() {
  static const std::map<std::string, Algorithm> all = {
      {"abs", Algorithm::kAbs},         {"clip", Algorithm::kClip},          {"exp", Algorithm::kExp},
      {"log", Algorithm::kLog},         {"nn.leaky_relu", Algorithm::kRelu}, {"nn.relu", Algorithm::kRelu},
      {"sigmoid", Algorithm::kSigmoid}, {"sqrt", Algorithm::kSqrt},          {"tanh", Algorithm::kTanh}};
  return all;
}

const std::map<std::string, Algorithm>& binary() {
  static const std::map<std::string, Algorithm> all = {
      {"add", Algorithm::kAdd},           {"divide", Algorithm::kDivide},
      {"maximum", Algorithm::kMaximum},   {"minimum", Algorithm::kMinimum},
      {"multiply", Algorithm::kMultiply}, {"subtract", Algorithm::kSubtract}};
  return all;
}

class Lowering {
  using Handler = View (Lowering::*)(const CallNode&);

 public:
  explicit Lowering(std::string symbol) { result_.region.symbol = std::move(symbol); }

  DnnlRegion function(const FunctionNode& function) {
    for (const Var& param : function.params()) add_inputs(param, "parameter `" + param->name() + "`");
    count_uses(function.body());
    post_order(
        function.body(), [&](const Expr& node) { visit(node); },
        [](const Expr& node) { return node->kind() != ExprKind::kFunction; });
    const std::vector<View> results = values_of(function.body());
    for (size_t i = 0; i < results.size(); ++i) add_output(results[i], static_cast<int64_t>(i));
    for (const Step& step : steps()) {
      const int64_t made = origins_.count(step.output) ? step.output : step.inputs[0].tensor;
      const auto at = origins_.find(made);
      result_.origins.push_back(at == origins_.end() ? OriginSet::none() : at->second);
    }
    return std::move(result_);
  }

  /// Lowers one call over its constants, and inputs of the types of its other operands.
  DnnlRegion alone(const CallNode& call) {
    for (const Expr& arg : call.args()) {
      const auto* type = as_type<TensorTypeNode>(type_of(arg));
      if (as<ConstantNode>(arg) && type && element_type(type->dtype()))
        visit(arg);
      else
        add_inputs(arg, "`" + call.op()->name + "`");
    }
    this->call(call);
    return std::move(result_);
  }

 private:
  std::vector<TensorInfo>& tensors() { return result_.region.tensors; }
  std::vector<Step>& steps() { return result_.region.steps; }

  // ---- Values.

  static Dims dims_of(const TensorTypeNode& type) {
    if (!type.is_static()) refuse("has a shape that is not known: " + type_text(Type(&type)));
    if (!element_type(type.dtype())) refuse("has elements of type " + type.dtype().str() + ", not float32");
    Dims dims = type.extents();
    if (dims.empty()) dims = {1};
    if (static_cast<int64_t>(dims.size()) > kMostAxes) refuse("has more than 12 axes");
    if (std::ranges::any_of(dims, [](int64_t extent) { return extent < 1; })) refuse("is empty");
    return dims;
  }

  View add_tensor(TensorKind kind, const Dims& dims, ElementType type, int64_t index = 0) {
    tensors().push_back({kind, dims, dense_strides(dims), index, 0, type});
    orders_.push_back(same_order(dims.size()));
    return {static_cast<int64_t>(tensors().size()) - 1, dims, dense_strides(dims)};
  }

  View add_constant(const NDArray& value, const Dims& dims) {
    const View view = add_tensor(TensorKind::kConstant, dims, *element_type(value.dtype()));
    result_.constants.push_back(value);
    constants_.emplace(view.tensor, value);
    return view;
  }
  /// A vector of one number.
  View filled(int64_t extent, float number) {
    const std::vector<float> all(static_cast<size_t>(extent), number);
    return add_constant(NDArray::of<float>({extent}, all, DType::float_(32)), {extent});
  }

  void add_inputs(const Expr& value, const std::string& user) {
    std::vector<View> views;
    try {
      for (const TensorTypeNode* type : flat_types(type_of(value)))
        views.push_back(
            add_tensor(TensorKind::kInput, dims_of(*type), *element_type(type->dtype()), inputs_++));
    } catch (const NotSupported& error) {
      throw NotSupported(user + " " + error.what());
    }
    values_[value.get()] = std::move(views);
  }

  void count_uses(const Expr& body) {
    post_order(
        body,
        [&](const Expr& node) {
          if (const auto* call = as<CallNode>(node))
            for (const Expr& arg : call->args()) ++uses_[arg.get()];
          if (const auto* tuple = as<TupleNode>(node))
            for (const Expr& field : tuple->fields()) ++uses_[field.get()];
          if (const auto* item = as<TupleGetItemNode>(node)) ++uses_[item->tuple().get()];
        },
        [](const Expr& node) { return node->kind() != ExprKind::kFunction; });
    ++uses_[body.get()];
  }

  const std::vector<View>& values_of(const Expr& value) const {
    const auto at = values_.find(value.get());
    if (at == values_.end()) refuse("a value of the region is no tensor");
    return at->second;
  }
  const View& value_of(const Expr& value) const {
    const std::vector<View>& views = values_of(value);
    if (views.size() != 1) refuse("a tuple stands where a tensor is needed");
    return views[0];
  }

  /// How many operands and post-operations the step of each tensor has.
  std::map<int64_t, size_t> sizes_of_steps() {
    std::map<int64_t, size_t> sizes;
    for (const Step& step : steps()) sizes[step.output] = step.inputs.size() + step.posts.size();
    return sizes;
  }

  void visit(const Expr& node) {
    if (const auto* call = as<CallNode>(node)) {
      const std::map<int64_t, size_t> before = sizes_of_steps();
      this->call(*call);
      // Steps that are new, or do more than before, compute the call.
      OriginSet computed = call->origins();
      if (const auto* composite = as<FunctionNode>(call->callee()))
        post_order(composite->body(), [&](const Expr& inner) {
          if (as<CallNode>(inner)) computed = computed.merge(inner->origins());
        });
      for (const auto& [tensor, size] : sizes_of_steps()) {
        const auto known = before.find(tensor);
        if (known != before.end() && known->second == size) continue;
        const auto [at, fresh] = origins_.emplace(tensor, computed);
        if (!fresh) at->second = at->second.merge(computed);
      }
      return;
    }
    if (const auto* constant = as<ConstantNode>(node)) {
      const auto* type = as_type<TensorTypeNode>(constant->checked_type());
      values_[node.get()] = {add_constant(constant->value(), dims_of(*type))};
    } else if (const auto* tuple = as<TupleNode>(node)) {
      std::vector<View> all;
      for (const Expr& field : tuple->fields()) std::ranges::copy(values_of(field), std::back_inserter(all));
      values_[node.get()] = std::move(all);
    } else if (const auto* item = as<TupleGetItemNode>(node)) {
      const auto* type = as_type<TupleTypeNode>(type_of(item->tuple()));
      size_t first = 0;
      for (int i = 0; i < item->index(); ++i)
        first += flat_types(type->fields()[static_cast<size_t>(i)]).size();
      const size_t count = flat_types(type_of(node)).size();
      const std::vector<View> all = values_of(item->tuple());
      values_[node.get()] = {all.begin() + static_cast<ptrdiff_t>(first),
                             all.begin() + static_cast<ptrdiff_t>(first + count)};
    } else if (node->kind() != ExprKind::kVar && node->kind() != ExprKind::kOp &&
               node->kind() != ExprKind::kFunction) {
      refuse("a region of oneDNN has operators, tuples and constants only");
    }
  }

  /// A result of the region. A tensor in the order of its own axes is written in place; other views, inputs
  /// and what is an output already are copied.
  void add_output(const View& view, int64_t index) {
    TensorInfo& tensor = tensors()[static_cast<size_t>(view.tensor)];
    if (tensor.kind == TensorKind::kTemporary && is_dense(view) &&
        elements(view.dims) == elements(tensor.dims)) {
      tensor.kind = TensorKind::kOutput;
      tensor.index = index;
      return;
    }
    const View output = add_tensor(TensorKind::kOutput, view.dims, type_of_tensor(view.tensor), index);
    Step step{.kind = StepKind::kReorder, .inputs = {view}, .output = output.tensor};
    steps().push_back(std::move(step));
  }

  // ---- Steps.

  /// Appends a step with a result of extents `dims`, whose axis i is axis order[i] of the value. Returns the
  /// value.
  /// Elements are those of the first operand, or int32 where that is multiplied as bytes.
  View made(Step step, const Dims& dims, const std::vector<int>& order) {
    const ElementType type = step.largest ? ElementType::kInt32 : type_of_tensor(step.inputs[0].tensor);
    View value = add_tensor(TensorKind::kTemporary, permuted(dims, inverse(order)), type);
    // The value is dense in the order of its own axes; the tensor has those of oneDNN.
    const View own = permuted(value, order);
    tensors().back().dims = own.dims;
    tensors().back().strides = own.strides;
    orders_.back() = order;
    step.output = value.tensor;
    steps().push_back(std::move(step));
    return value;
  }
  View made(Step step, const Dims& dims) { return made(std::move(step), dims, same_order(dims.size())); }

  /// `value` as a dense view, copied if it is not.
  View dense(const View& value) {
    if (is_dense(value)) return {value.tensor, value.dims, dense_strides(value.dims)};
    return made({.kind = StepKind::kReorder, .inputs = {value}}, value.dims);
  }

  /// The step that made `operand` if it can take post-operations and nothing else reads the operand; it then
  /// is the last step. Null otherwise.
  Step* open_step(const Expr& operand) {
    const auto used = uses_.find(operand.get());
    if (used == uses_.end() || used->second != 1) return nullptr;
    const View& value = value_of(operand);
    const auto owner = owners_.find(value.tensor);
    if (owner == owners_.end() || owner->second != operand.get() || !is_whole(value)) return nullptr;
    const auto at = std::ranges::find(steps(), value.tensor, &Step::output);
    if (at == steps().end()) return nullptr;
    if (!is_layer(*at) && at->kind != StepKind::kBinary) return nullptr;
    if (at->kind == StepKind::kDeconvolution && at->inputs[0].dims[1] > kMostStridedChannels &&
        std::ranges::any_of(at->strides, [](int64_t stride) { return stride > 1; }))
      return nullptr;
    if (at->posts.size() >= kMostPosts) return nullptr;
    std::rotate(at, at + 1, steps().end());  // operands of the post-operation may be made after it
    return &steps().back();
  }
  ElementType type_of_tensor(int64_t tensor) { return tensors()[static_cast<size_t>(tensor)].type; }
  const Dims& own_dims(int64_t tensor) { return tensors()[static_cast<size_t>(tensor)].dims; }
  const std::vector<int>& order_of_tensor(int64_t tensor) const {
    return orders_[static_cast<size_t>(tensor)];
  }

  static bool is_layer(const Step& step) { return step.kind <= StepKind::kMatmul; }
  static size_t channel_axis(const Step& step, size_t rank) {
    return step.kind == StepKind::kMatmul ? rank - 1 : 1;
  }
  static bool has_bias(const Step& step) { return step.inputs.size() == 3; }

  /// `call`: an activation of `operand`.
  View activation(Algorithm algorithm, double alpha, double beta, const Expr& operand) {
    if (Step* step = open_step(operand)) {
      step->posts.push_back({PostKind::kEltwise, algorithm, alpha, beta, {}});
      return value_of(operand);
    }
    const View value = in_own_order(value_of(operand));
    const std::vector<int> order = value_order(value_of(operand));
    return made(
        {.kind = StepKind::kEltwise, .algorithm = algorithm, .inputs = {value}, .alpha = alpha, .beta = beta},
        value.dims, order);
  }

  /// The value's axes in the order of its tensor's, where it is a permutation of these.
  View in_own_order(const View& value) { return permuted(value, value_order(value)); }
  std::vector<int> value_order(const View& value) {
    return is_whole(value) ? order_of_tensor(value.tensor) : same_order(value.dims.size());
  }
  /// Whether the value is its tensor, up to the order of axes.
  bool is_whole(const View& value) {
    const std::vector<int>& order = order_of_tensor(value.tensor);
    if (order.size() != value.dims.size()) return false;
    const TensorInfo& tensor = tensors()[static_cast<size_t>(value.tensor)];
    const View own = permuted(value, order);
    return own.dims == tensor.dims && own.strides == tensor.strides;
  }

  /// Adds `other` to the result of the step that made `operand`; false if it cannot.
  bool fuse_binary(Algorithm algorithm, const Expr& operand, const View& other) {
    const Dims& shape = value_of(operand).dims;
    if (other.dims.size() > shape.size() || !broadcasts(aligned(other, shape.size()).dims, shape))
      return false;
    if (other.tensor == value_of(operand).tensor) return false;
    Step* step = open_step(operand);
    if (!step) return false;
    const View own = permuted(aligned(other, shape.size()), order_of_tensor(step->output));
    const Dims& dims = own_dims(step->output);
    const size_t channels = channel_axis(*step, dims.size());
    Dims per_channel(dims.size(), 1);
    per_channel[channels] = dims[channels];
    const bool first_sum = algorithm == Algorithm::kAdd && is_layer(*step) && step->posts.empty();
    if (first_sum && own.dims == per_channel && !has_bias(*step)) {
      step->inputs.push_back(step->kind == StepKind::kMatmul
                                 ? own
                                 : View{own.tensor, {dims[channels]}, {own.strides[channels]}});
      return true;
    }
    if (first_sum && own.dims == dims) {
      step->posts.push_back({PostKind::kSum, Algorithm::kAdd, 1, 0, {own}});
      return true;
    }
    if (own.dims != per_channel && elements(own.dims) != 1) return false;
    step->posts.push_back({PostKind::kBinary, algorithm, 0, 0, {own}});
    return true;
  }

  View binary_of(Algorithm algorithm, const Expr& a, const Expr& b) {
    const bool commutes = algorithm != Algorithm::kSubtract && algorithm != Algorithm::kDivide;
    if (fuse_binary(algorithm, a, value_of(b))) return value_of(a);
    if (commutes && fuse_binary(algorithm, b, value_of(a))) return value_of(b);
    View left = value_of(a), right = value_of(b);
    const size_t rank = std::max(left.dims.size(), right.dims.size());
    left = aligned(left, rank), right = aligned(right, rank);
    if (!broadcasts(right.dims, left.dims)) {
      if (!commutes || !broadcasts(left.dims, right.dims))
        refuse("broadcasts both operands, or the first of an operation that does not commute");
      std::swap(left, right);
    }
    const std::vector<int> order = value_order(left);
    return made({.kind = StepKind::kBinary,
                 .algorithm = algorithm,
                 .inputs = {permuted(left, order), permuted(right, order)}},
                permuted(left, order).dims, order);
  }

  // ---- Operators.

  void call(const CallNode& call) {
    std::string name;
    try {
      if (const OpDef* op = call.op()) {
        name = op->name;
        const auto at = handlers().find(name);
        if (at == handlers().end()) refuse("is not mapped to a primitive of oneDNN");
        require_types(call, at->second);
        for (const TensorTypeNode* type : flat_types(call.checked_type())) dims_of(*type);
        const View value = (this->*at->second)(call);
        values_[&call] = {value};
        if (at->second == &Lowering::batch_norm)  // its other results are the moments that it is given
          values_[&call] = {value, value_of(call.args()[3]), value_of(call.args()[4])};
        if (at->second != &Lowering::reshaped && at->second != &Lowering::transposed)
          owners_[value.tensor] = &call;
      } else {
        const auto* composite = as<FunctionNode>(call.callee());
        name = composite ? text_attr(*composite, "Composite") : "a function";
        if (name == "dnnl.gelu")
          values_[&call] = {activation(Algorithm::kGelu, 0, 0, call.args()[0])};
        else if (name == "dnnl.layer_norm")
          values_[&call] = {composite_layer_norm(*composite, call)};
        else if (name.starts_with("dnnl.qnn."))
          values_[&call] = {quantized(*composite, call)};
        else
          refuse("is no operator");
        owners_[values_[&call][0].tensor] = &call;
      }
    } catch (const NotSupported& error) {
      throw NotSupported("`" + name + "` " + error.what());
    }
  }

  /// Refuses types that the call's primitive has not: most are of float32; products take bytes, too, and what
  /// moves elements takes those of any type.
  static void require_types(const CallNode& call, Handler handler) {
    std::vector<DType> operands, results;
    for (const Expr& arg : call.args())
      for (const TensorTypeNode* type : flat_types(type_of(arg))) operands.push_back(type->dtype());
    for (const TensorTypeNode* type : flat_types(call.checked_type())) results.push_back(type->dtype());
    const bool is_product = handler == &Lowering::convolution || handler == &Lowering::dense_layer ||
                            handler == &Lowering::batch_matmul || handler == &Lowering::matmul;
    const bool is_maximum = handler == &Lowering::pool && call.op()->name.find("max") != std::string::npos;
    const bool moves = handler == &Lowering::reshaped || handler == &Lowering::transposed ||
                       handler == &Lowering::concatenate;
    const auto is_byte = [](DType type) { return type == DType::int_(8) || type == DType::uint_(8); };
    if (moves || (is_maximum && is_byte(operands[0]))) return;
    if (is_product && is_byte(operands[0])) {
      if (operands[1] != DType::int_(8))
        refuse("has weights of type " + operands[1].str() + ", and oneDNN multiplies bytes by int8 only");
      if (results[0] != DType::int_(32))
        refuse("has sums of type " + results[0].str() + ", and oneDNN adds products of bytes in int32");
      return;
    }
    operands.insert(operands.end(), results.begin(), results.end());
    for (const DType type : operands)
      if (type != DType::float_(32)) refuse("has elements of type " + type.str() + ", not float32");
  }

  /// Marks a product of bytes: what its sums of products cannot exceed, data taken as uint8. `outputs`: by
  /// axis of the weight, whether it goes along outputs instead of a sum.
  void bound_sums(Step& step, const std::vector<bool>& outputs) {
    constexpr int64_t kLargestByte = 255, kLargestWeight = 128;
    const View& weight = step.inputs[1];
    if (type_of_tensor(weight.tensor) != ElementType::kInt8) return;
    const auto constant = constants_.find(weight.tensor);
    if (constant != constants_.end()) {
      step.largest =
          std::max<int64_t>(1, largest_sum(constant->second.as<int8_t>(), weight, outputs)) * kLargestByte;
      return;
    }
    int64_t summed = 1;
    for (size_t i = 0; i < outputs.size(); ++i)
      if (!outputs[i]) summed *= weight.dims[i];
    step.largest = summed * kLargestByte * kLargestWeight;
  }

  View convolution(const CallNode& call) { return convolve(call, StepKind::kConvolution); }
  View deconvolution(const CallNode& call) { return convolve(call, StepKind::kDeconvolution); }

  View convolve(const CallNode& call, StepKind kind) {
    const View data = value_of(call.args()[0]), weight = value_of(call.args()[1]);
    if (data.dims.size() < 3) refuse("has data without spatial axes");
    const size_t axes = data.dims.size() - 2;
    const std::string spatial = std::string("DHW").substr(3 - axes);
    const std::string data_layout = text_attr(call, "data_layout"),
                      out_layout = text_attr(call, "out_layout");
    if (!out_layout.empty() && out_layout != data_layout) refuse("changes the layout");
    const std::vector<int> order = order_of(data_layout, "NC" + spatial);
    const View in = permuted(data, order);
    // Relay's transposed convolution has its weight as (in, out / groups, ...), which it names by I and O.
    const View w = permuted(weight, order_of(text_attr(call, "kernel_layout"), "OI" + spatial));
    const int64_t groups = int_attr(call, "groups");
    const Dims out = permuted(dims_of(*static_type_of(Expr(&call))), order);
    Step step{.kind = kind, .inputs = {in, grouped(w, groups, kind, out[1], in.dims[1])}};
    step.strides = ints(ints_attr(call, "strides"), axes, 1);
    step.dilates = ints(ints_attr(call, "dilation"), axes, 1);
    set_padding(step, ints_attr(call, "padding"), axes);
    for (size_t i = 0; i < axes; ++i) {
      const int64_t reach = (w.dims[2 + i] - 1) * step.dilates[i] + 1;
      --step.dilates[i];
      if (kind == StepKind::kDeconvolution)  // output_padding takes from the padding after
        step.after[i] = (in.dims[2 + i] - 1) * step.strides[i] + reach - out[2 + i] - step.before[i];
    }
    std::vector<bool> outputs(step.inputs[1].dims.size(), false);
    outputs[0] = true;
    if (groups > 1) outputs[1] = true;
    bound_sums(step, outputs);
    return made(std::move(step), out, order);
  }

  /// The weight as oneDNN's (out, in, ...), with an axis of groups before if there are several.
  static View grouped(const View& weight, int64_t groups, StepKind kind, int64_t out, int64_t in) {
    View w = weight;
    if (groups > 1) {
      // Of a convolution the first axis goes over all groups, of a transposed one the axis of inputs does;
      // depthwise ones may have the multiplier as their second axis instead.
      const size_t split = kind == StepKind::kConvolution ? 0 : 1;
      if (kind == StepKind::kConvolution && w.dims[0] * w.dims[1] == out && w.dims[0] == groups &&
          in == groups) {
        std::swap(w.dims[0],
                  w.dims[1]);  // (groups, multiplier): the multiplier becomes the outputs of a group
        std::swap(w.strides[0], w.strides[1]);
        w.dims.insert(w.dims.begin(), groups), w.strides.insert(w.strides.begin(), w.strides[1]);
        w.dims[2] = 1;
      } else {
        if (w.dims[split] % groups) refuse("has channels that its groups do not divide");
        const int64_t part = w.dims[split] / groups;
        w.dims[split] = part;
        w.dims.insert(w.dims.begin(), groups);
        w.strides.insert(w.strides.begin(), w.strides[split] * part);
      }
    }
    const size_t first = groups > 1 ? 1 : 0;
    if (w.dims[first] * groups != out || w.dims[first + 1] * groups != in)
      refuse("has a weight whose channels are not those of its data and result");
    return w;
  }

  View dense_layer(const CallNode& call) {
    const View weight = value_of(call.args()[1]);
    const View data = dense(value_of(call.args()[0]));
    const Dims out = dims_of(*static_type_of(Expr(&call)));
    if (weight.dims.size() != 2) refuse("has a packed weight");
    const int64_t rows = elements(out) / weight.dims[0], k = weight.dims[1];
    Step step{.kind = StepKind::kMatmul,
              .inputs = {{data.tensor, {rows, k}, {k, 1}}, permuted(weight, {1, 0})}};
    bound_sums(step, {false, true});
    const View value = made(std::move(step), {rows, weight.dims[0]});
    // Of other ranks the value is a view of it, to which nothing can be fused any more.
    return out.size() == 2 ? value : View{value.tensor, out, dense_strides(out)};
  }

  View batch_matmul(const CallNode& call) {
    View a = value_of(call.args()[0]), b = value_of(call.args()[1]);
    const auto transposed = [](View& view) {
      std::swap(view.dims[1], view.dims[2]);
      std::swap(view.strides[1], view.strides[2]);
    };
    if (bool_attr(call, "transpose_a")) transposed(a);
    if (bool_attr(call, "transpose_b")) transposed(b);
    Step step{.kind = StepKind::kMatmul, .inputs = {a, b}};
    bound_sums(step, {true, false, true});
    return made(std::move(step), dims_of(*static_type_of(Expr(&call))));
  }

  View matmul(const CallNode& call) {
    View a = value_of(call.args()[0]), b = value_of(call.args()[1]);
    if (a.dims.size() != 2 || b.dims.size() != 2) refuse("has operands that are no matrices");
    if (bool_attr(call, "transpose_a")) a = permuted(a, {1, 0});
    if (bool_attr(call, "transpose_b")) b = permuted(b, {1, 0});
    Step step{.kind = StepKind::kMatmul, .inputs = {a, b}};
    bound_sums(step, {false, true});
    return made(std::move(step), dims_of(*static_type_of(Expr(&call))));
  }

  View pool(const CallNode& call) {
    const std::string name = call.op()->name;
    const View data = value_of(call.args()[0]);
    if (data.dims.size() < 3) refuse("has data without spatial axes");
    const size_t axes = data.dims.size() - 2;
    const std::vector<int> order =
        order_of(text_attr(call, "layout"), "NC" + std::string("DHW").substr(3 - axes));
    const View in = permuted(data, order);
    const Dims out = permuted(dims_of(*static_type_of(Expr(&call))), order);
    const bool average = name.find("avg") != std::string::npos;
    Step step{.kind = StepKind::kPooling,
              .algorithm = average ? Algorithm::kPoolAverage : Algorithm::kPoolMax,
              .inputs = {in}};
    if (name.find("global") != std::string::npos) {
      step.window.assign(in.dims.begin() + 2, in.dims.end());
      step.strides = Dims(axes, 1);
      step.dilates = step.before = step.after = Dims(axes, 0);
      return made(std::move(step), out, order);
    }
    step.window = ints(ints_attr(call, "pool_size"), axes, 1);
    step.strides = ints(ints_attr(call, "strides"), axes, 1);
    step.dilates = ints(ints_attr(call, "dilation"), axes, 1);
    set_padding(step, ints_attr(call, "padding"), axes);
    const bool padded = average && bool_attr(call, "count_include_pad");
    if (padded) step.algorithm = Algorithm::kPoolAveragePadded;
    for (size_t i = 0; i < axes; ++i) {
      const int64_t reach = (step.window[i] - 1) * step.dilates[i] + 1;
      const int64_t last = (out[2 + i] - 1) * step.strides[i];  // where the last window starts
      const int64_t after = last + reach - in.dims[2 + i] - step.before[i];
      if (step.before[i] >= reach || last - step.before[i] >= in.dims[2 + i])
        refuse("has a window that lies in the padding alone");
      if (padded && after > step.after[i]) refuse("rounds up and counts padding");
      step.after[i] = std::max(step.after[i], after);  // ceil_mode
      --step.dilates[i];
    }
    return made(std::move(step), out, order);
  }

  View softmax(const CallNode& call) {
    const View value = value_of(call.args()[0]);
    const int rank = static_cast<int>(value.dims.size());
    return made({.kind = StepKind::kSoftmax,
                 .algorithm = call.op()->name == "nn.softmax" ? Algorithm::kSoftmax : Algorithm::kLogSoftmax,
                 .inputs = {value},
                 .axis = front_axis(int_attr(call, "axis"), rank)},
                value.dims);
  }

  /// The rows of `value`, of `extent` elements each, less their means and divided by their deviations.
  /// `vectors`: a factor for each element of a row, and what is added to it; or nothing.
  View standardised(const View& value, int64_t extent, double epsilon, std::vector<View> vectors) {
    const View data = dense(value);
    const Dims rows = {elements(value.dims) / extent, extent};
    Step step{
        .kind = StepKind::kLayerNorm, .inputs = {{data.tensor, rows, dense_strides(rows)}}, .alpha = epsilon};
    std::ranges::move(vectors, std::back_inserter(step.inputs));
    const View made_rows = made(std::move(step), rows);
    return {made_rows.tensor, value.dims, dense_strides(value.dims)};
  }

  /// The operand of a normalisation at `index` (gamma or beta), or ones or zeros where it has none.
  View vector_of(const CallNode& norm, size_t index, const char* used, int64_t extent, float otherwise) {
    return bool_attr(norm, used) ? value_of(norm.args()[index]) : filled(extent, otherwise);
  }

  View layer_norm(const CallNode& call) {
    const View value = value_of(call.args()[0]);
    const int rank = static_cast<int>(value.dims.size());
    if (front_axis(int_attr(call, "axis"), rank) != rank - 1) refuse("normalises another axis than the last");
    const int64_t extent = value.dims.back();
    std::vector<View> vectors;
    if (bool_attr(call, "scale") || bool_attr(call, "center"))
      vectors = {vector_of(call, 1, "scale", extent, 1), vector_of(call, 2, "center", extent, 0)};
    return standardised(value, extent, float_attr(call, "epsilon"), std::move(vectors));
  }

  View composite_layer_norm(const FunctionNode& composite, const CallNode& call) {
    const auto parts = layer_norm_parts(composite.body());
    if (!parts) refuse("is no normalisation of rows");
    const auto argument = [&](const Expr& param) {
      for (size_t i = 0; i < composite.params().size(); ++i)
        if (composite.params()[i].get() == param.get()) return value_of(call.args()[i]);
      refuse("normalises what is computed inside of it");
    };
    const View value = argument(parts->data);
    const int64_t extent = value.dims.back();
    const auto vector = [&](const Expr& param) {
      View view = dense(argument(param));
      return View{view.tensor, {extent}, {1}};
    };
    return standardised(value, extent, parts->epsilon, {vector(parts->gamma), vector(parts->beta)});
  }

  /// A layer of bytes whose result is rounded to bytes: post-operations of one primitive.
  View quantized(const FunctionNode& composite, const CallNode& call) {
    const auto parts = quantized_layer(composite.body());
    if (!parts) refuse("is no quantised layer");
    for (size_t i = 0; i < composite.params().size(); ++i)
      values_[composite.params()[i].get()] = values_of(call.args()[i]);
    visit(parts->layer->args()[1]);
    const bool matmul = parts->layer->op()->name == "qnn.dense";
    const View value = matmul ? dense_layer(*parts->layer) : convolution(*parts->layer);
    if (matmul && !is_whole(value)) refuse("has data of more than two axes");
    const ElementType type = *element_type(as_type<TensorTypeNode>(type_of(Expr(&call)))->dtype());
    tensors()[static_cast<size_t>(value.tensor)].type = type;
    const Dims dims = own_dims(value.tensor);
    const int64_t channels = matmul ? dims.back() : dims[1];
    // Rounded to its own units, with its zero point; then to those of the sum.
    const auto factor = [&](int64_t channel) {
      return parts->factors[parts->factors.size() == 1 ? 0 : static_cast<size_t>(channel)];
    };
    std::vector<float> bias, scales(parts->factors.begin(), parts->factors.end());
    for (int64_t channel = 0; channel < channels; ++channel) {
      const int32_t added = parts->bias ? parts->bias.as<int32_t>()[static_cast<size_t>(channel)] : 0;
      bias.push_back(static_cast<float>(added * factor(channel) + parts->zero));
    }
    const auto vector = [&](const std::vector<float>& all) {
      const auto count = static_cast<int64_t>(all.size());
      return add_constant(NDArray::of<float>({count}, all, DType::float_(32)), {count});
    };
    const View bias_view = vector(bias), scales_view = vector(scales);
    Step& step = steps().back();
    step.largest = 0;
    step.inputs.push_back(matmul ? View{bias_view.tensor, {1, channels}, {channels, 1}} : bias_view);
    step.scales = {scales_view};
    if (parts->data_zero) {
      const std::vector<int32_t> zero = {parts->data_zero};
      step.zeros = {add_constant(NDArray::of<int32_t>({1}, zero, DType::int_(32)), {1})};
    }
    const auto clip = [&](double low, double high) {
      step.posts.push_back({PostKind::kEltwise, Algorithm::kClip, low, high, {}});
    };
    if (parts->other) {
      // Both operands are rounded to units of the sum, as qnn.add does: this one here, the other one, behind
      // an integer, when the sum is.
      const View& other = value_of(parts->other);
      const auto map = [&](Algorithm algorithm, double alpha, double beta) {
        step.posts.push_back({PostKind::kEltwise, algorithm, alpha, beta, {}});
      };
      clip(parts->low, parts->high);
      map(Algorithm::kRound, 0, 0);
      if (parts->own_factor != 1) {
        map(Algorithm::kLinear, parts->own_factor, parts->own_shift);
        map(Algorithm::kRound, 0, 0);
        map(Algorithm::kLinear, 1, parts->shift);
      } else {
        map(Algorithm::kLinear, 1, parts->own_shift + parts->shift);
      }
      step.posts.push_back({PostKind::kSum,
                            Algorithm::kAdd,
                            parts->other_factor,
                            0,
                            {permuted(other, order_of_tensor(value.tensor))}});
    }
    const double low = type == ElementType::kInt8 ? -128 : 0;
    if (parts->least > low || parts->most < low + 255) clip(parts->least, parts->most);
    return value;
  }

  /// Groups of channels are rows; what differs by channel follows as a step of its own.
  View group_norm(const CallNode& call) {
    const View value = value_of(call.args()[0]);
    const auto rank = value.dims.size();
    if (rank < 2 || front_axis(int_attr(call, "axis"), static_cast<int>(rank)) != 1)
      refuse("has its channels along another axis than the second");
    const int64_t channels = value.dims[1];
    const int64_t groups = call.op()->name == "nn.group_norm" ? int_attr(call, "num_groups") : channels;
    const View standard =
        standardised(value, elements(value.dims) / value.dims[0] / groups, float_attr(call, "epsilon"), {});
    const auto along = [&](size_t index) {
      const View& vector = value_of(call.args()[index]);
      View view{vector.tensor, Dims(rank, 1), Dims(rank, 1)};
      view.dims[1] = channels;
      view.strides[1] = vector.strides[0];
      return view;
    };
    const bool scales = bool_attr(call, "scale"), centers = bool_attr(call, "center");
    if (!scales && !centers) return standard;
    Step step{.kind = StepKind::kBinary,
              .algorithm = scales ? Algorithm::kMultiply : Algorithm::kAdd,
              .inputs = {standard, along(scales ? 1 : 2)}};
    if (scales && centers) step.posts.push_back({PostKind::kBinary, Algorithm::kAdd, 0, 0, {along(2)}});
    return made(std::move(step), value.dims);
  }

  View batch_norm(const CallNode& call) {
    constexpr size_t kMostNormalised = 5;  // axes of oneDNN's batch normalisation
    const View& value = value_of(call.args()[0]);
    const size_t rank = value.dims.size();
    if (rank < 2 || rank > kMostNormalised)
      refuse("has data of " + std::to_string(rank) + " axes, not 2 to 5");
    const auto axis = static_cast<size_t>(front_axis(int_attr(call, "axis"), static_cast<int>(rank)));
    std::vector<int> order = same_order(rank);
    order.erase(order.begin() + static_cast<ptrdiff_t>(axis));
    order.insert(order.begin() + 1, static_cast<int>(axis));
    const View data = permuted(value, order);
    const int64_t channels = data.dims[1];
    Step step{
        .kind = StepKind::kBatchNorm,
        .inputs = {data, vector_of(call, 1, "scale", channels, 1), vector_of(call, 2, "center", channels, 0),
                   value_of(call.args()[3]), value_of(call.args()[4])},
        .alpha = float_attr(call, "epsilon")};
    return made(std::move(step), data.dims, order);
  }

  View elementwise_call(const CallNode& call) {
    const std::string& name = call.op()->name;
    double alpha = 0, beta = 0;
    if (name == "nn.leaky_relu") alpha = float_attr(call, "alpha");
    if (name == "clip") alpha = float_attr(call, "a_min"), beta = float_attr(call, "a_max");
    if (name == "clip" && !(alpha <= beta)) refuse("has a minimum above its maximum");
    return activation(elementwise().at(name), alpha, beta, call.args()[0]);
  }

  View negative(const CallNode& call) { return activation(Algorithm::kLinear, -1, 0, call.args()[0]); }

  View binary_call(const CallNode& call) {
    return binary_of(binary().at(call.op()->name), call.args()[0], call.args()[1]);
  }

  View bias_add(const CallNode& call) {
    const View& data = value_of(call.args()[0]);
    const View& bias = value_of(call.args()[1]);
    const int rank = static_cast<int>(data.dims.size());
    const int axis = front_axis(int_attr(call, "axis"), rank);
    View along{bias.tensor, Dims(data.dims.size(), 1), Dims(data.dims.size(), 1)};
    along.dims[static_cast<size_t>(axis)] = bias.dims[0];
    along.strides[static_cast<size_t>(axis)] = bias.strides[0];
    if (fuse_binary(Algorithm::kAdd, call.args()[0], along)) return value_of(call.args()[0]);
    const std::vector<int> order = value_order(data);
    return made({.kind = StepKind::kBinary,
                 .algorithm = Algorithm::kAdd,
                 .inputs = {permuted(data, order), permuted(along, order)}},
                permuted(data, order).dims, order);
  }

  View concatenate(const CallNode& call) {
    const std::vector<View> parts = values_of(call.args()[0]);
    if (parts.empty()) refuse("joins nothing");
    const int rank = static_cast<int>(parts[0].dims.size());
    const int axis = front_axis(int_attr(call, "axis"), rank);
    // In the order of the first part's tensor, so that blocked layouts are kept.
    const std::vector<int> order = value_order(parts[0]);
    Step step{.kind = StepKind::kConcat, .axis = inverse(order)[static_cast<size_t>(axis)]};
    for (const View& part : parts) step.inputs.push_back(permuted(part, order));
    return made(std::move(step), permuted(dims_of(*static_type_of(Expr(&call))), order), order);
  }

  View reshaped(const CallNode& call) {
    const Dims dims = dims_of(*static_type_of(Expr(&call)));
    const View value = dense(value_of(call.args()[0]));
    return {value.tensor, dims, dense_strides(dims)};
  }

  View transposed(const CallNode& call) {
    const View& value = value_of(call.args()[0]);
    const int rank = static_cast<int>(value.dims.size());
    std::vector<int> order;
    for (const int64_t axis : ints_attr(call, "axes")) order.push_back(front_axis(axis, rank));
    if (order.empty())
      for (int axis = rank; axis-- > 0;) order.push_back(axis);
    return permuted(value, order);
  }

 public:
  static const std::map<std::string, Handler>& handlers() {
    static const std::map<std::string, Handler> all = [] {
      std::map<std::string, Handler> map = {{"concatenate", &Lowering::concatenate},
                                            {"expand_dims", &Lowering::reshaped},
                                            {"negative", &Lowering::negative},
                                            {"nn.batch_flatten", &Lowering::reshaped},
                                            {op_names::kBatchMatmul, &Lowering::batch_matmul},
                                            {"nn.bias_add", &Lowering::bias_add},
                                            {"nn.conv1d", &Lowering::convolution},
                                            {op_names::kConv2D, &Lowering::convolution},
                                            {"nn.conv2d_transpose", &Lowering::deconvolution},
                                            {"nn.conv3d", &Lowering::convolution},
                                            {op_names::kDense, &Lowering::dense_layer},
                                            {"nn.batch_norm", &Lowering::batch_norm},
                                            {"nn.group_norm", &Lowering::group_norm},
                                            {"nn.instance_norm", &Lowering::group_norm},
                                            {"nn.layer_norm", &Lowering::layer_norm},
                                            {"nn.log_softmax", &Lowering::softmax},
                                            {"nn.matmul", &Lowering::matmul},
                                            {"nn.softmax", &Lowering::softmax},
                                            {"reshape", &Lowering::reshaped},
                                            {"squeeze", &Lowering::reshaped},
                                            {"transpose", &Lowering::transposed}};
      for (const char* name :
           {"nn.max_pool1d", "nn.max_pool2d", "nn.max_pool3d", "nn.avg_pool1d", "nn.avg_pool2d",
            "nn.avg_pool3d", "nn.global_avg_pool2d", "nn.global_max_pool2d"})
        map[name] = &Lowering::pool;
      for (const auto& [name, algorithm] : elementwise()) map[name] = &Lowering::elementwise_call;
      for (const auto& [name, algorithm] : binary()) map[name] = &Lowering::binary_call;
      return map;
    }();
    return all;
  }

 private:
  DnnlRegion result_;
  int64_t inputs_ = 0;
  std::vector<std::vector<int>>
      orders_;  // by tensor: its axis i is axis orders_[t][i] of the value first made
  std::unordered_map<int64_t, NDArray> constants_;  // by tensor
  std::unordered_map<const ExprNode*, std::vector<View>> values_;
  std::unordered_map<const ExprNode*, int> uses_;
  /// The call whose value a tensor is: reshapes, transpositions and items of tuples only refer to it.
  std::unordered_map<int64_t, OriginSet> origins_;  // by tensor: what the step that makes it computes
  std::unordered_map<int64_t, const ExprNode*> owners_;
};

}  // namespace

DnnlRegion lower_for_dnnl(const FunctionNode& function, const std::string& symbol) {
  const Function plain = make_function(function.params(), function.body(), function.ret_type(), {},
                                       NodeInfo(OriginSet::none(), {}, function.checked_type()));
  Expr marked(plain);
  PatternTable composites = dnnl_quantized_layers();
  composites.push_back(dnnl_gelu(wildcard()));
  composites.push_back(dnnl_layer_norm());
  for (const CompositePattern& each : composites)
    marked =
        dataflow_partition(each.pattern, marked, {{"Composite", each.name}}, each.check, CutTypes::kGiven);
  return Lowering(symbol).function(*as<FunctionNode>(marked));
}

DnnlRegion lower_call_for_dnnl(const CallNode& call) { return Lowering("call").alone(call); }

std::string dnnl_refusal(const CallNode& call) {
  try {
    lower_call_for_dnnl(call);
  } catch (const NotSupported& error) {
    return error.what();
  }
  return "";
}

std::vector<std::string> dnnl_operators() {
  std::vector<std::string> names;
  for (const auto& [name, handler] : Lowering::handlers()) names.push_back(name);
  return names;
}

}  // namespace baton
