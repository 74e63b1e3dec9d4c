#include "baton/codegen/dnnl/region_writer.h"

#include <algorithm>
#include <iterator>

#include "baton/ir/inspect.h"
#include "baton/support/error.h"

namespace baton::dnnl_blob {
namespace {

constexpr size_t kMostPosts = 8;
/// Input channels up to which post-operations may join a transposed convolution with strides: where oneDNN
/// 3.2's `brgconv_strided` splits the sum over these, it applies bias and post-operations once for each part
/// (seen from 512 on with AVX-512; never up to 384).
constexpr int64_t kMostStridedChannels = 64;

bool is_layer(const Step& step) { return step.kind <= StepKind::kMatmul; }
bool has_bias(const Step& step) { return step.inputs.size() == 3; }
size_t channels_of(const Step& step, size_t rank) { return step.kind == StepKind::kMatmul ? rank - 1 : 1; }

}  // namespace

void refuse(const std::string& why) { throw NotSupported(why); }

std::optional<ElementType> element_type(DType dtype) {
  if (dtype == DType::float_(32)) return ElementType::kFloat32;
  if (dtype == DType::int_(32)) return ElementType::kInt32;
  if (dtype == DType::int_(8)) return ElementType::kInt8;
  if (dtype == DType::uint_(8)) return ElementType::kUint8;
  return std::nullopt;
}

Dims dims_of(const TensorTypeNode& type) {
  if (!type.is_static()) refuse("has a shape that is not known: " + type_text(Type(&type)));
  if (!element_type(type.dtype())) refuse("has elements of type " + type.dtype().str() + ", not float32");
  Dims dims = type.extents();
  if (dims.empty()) dims = {1};
  if (static_cast<int64_t>(dims.size()) > kMostAxes) refuse("has more than 12 axes");
  if (std::ranges::any_of(dims, [](int64_t extent) { return extent < 1; })) refuse("is empty");
  return dims;
}

Dims result_dims(const CallNode& call) { return dims_of(*static_type_of(Expr(&call))); }

DnnlRegion RegionWriter::finish() {
  for (const Step& step : steps()) {
    const auto at = origins_.find(origins_.count(step.output) ? step.output : step.inputs[0].tensor);
    result_.origins.push_back(at == origins_.end() ? OriginSet::none() : at->second);
  }
  return std::move(result_);
}

// ---- Values.

const std::vector<View>& RegionWriter::values_of(const Expr& value) const {
  const auto at = values_.find(value.get());
  if (at == values_.end()) refuse("a value of the region is no tensor");
  return at->second;
}

const View& RegionWriter::value_of(const Expr& value) const {
  const std::vector<View>& views = values_of(value);
  if (views.size() != 1) refuse("a tuple stands where a tensor is needed");
  return views[0];
}

void RegionWriter::define_value(const Expr& node) {
  if (const auto* constant = as<ConstantNode>(node)) {
    const auto* type = as_type<TensorTypeNode>(constant->checked_type());
    define(*node, {add_constant(constant->value(), dims_of(*type))});
  } else if (const auto* tuple = as<TupleNode>(node)) {
    std::vector<View> all;
    for (const Expr& field : tuple->fields()) std::ranges::copy(values_of(field), std::back_inserter(all));
    define(*node, std::move(all));
  } else if (const auto* item = as<TupleGetItemNode>(node)) {
    const auto* type = as_type<TupleTypeNode>(type_of(item->tuple()));
    size_t first = 0;
    for (int i = 0; i < item->index(); ++i)
      first += flat_types(type->fields()[static_cast<size_t>(i)]).size();
    const size_t count = flat_types(type_of(node)).size();
    const std::vector<View>& all = values_of(item->tuple());
    define(*node, {all.begin() + static_cast<ptrdiff_t>(first),
                   all.begin() + static_cast<ptrdiff_t>(first + count)});
  } else if (node->kind() != ExprKind::kVar && node->kind() != ExprKind::kOp &&
             node->kind() != ExprKind::kFunction) {
    refuse("a region of oneDNN has operators, tuples and constants only");
  }
}

void RegionWriter::define_inputs(const Expr& value, const std::string& user) {
  std::vector<View> views;
  try {
    for (const TensorTypeNode* type : flat_types(type_of(value)))
      views.push_back(
          add_tensor(TensorKind::kInput, dims_of(*type), *element_type(type->dtype()), inputs_++));
  } catch (const NotSupported& error) {
    throw NotSupported(user + " " + error.what());
  }
  define(*value, std::move(views));
}

View RegionWriter::add_constant(const NDArray& value, const Dims& dims) {
  const View view = add_tensor(TensorKind::kConstant, dims, *element_type(value.dtype()));
  result_.constants.push_back(value);
  constants_.emplace(view.tensor, value);
  return view;
}

View RegionWriter::add_vector(const std::vector<float>& numbers) {
  const auto count = static_cast<int64_t>(numbers.size());
  return add_constant(NDArray::of<float>({count}, numbers, DType::float_(32)), {count});
}

const NDArray* RegionWriter::constant(int64_t tensor) const {
  const auto at = constants_.find(tensor);
  return at == constants_.end() ? nullptr : &at->second;
}

void RegionWriter::add_output(const View& view, int64_t index) {
  TensorInfo& own = tensor(view.tensor);
  if (own.kind == TensorKind::kTemporary && is_dense(view) && elements(view.dims) == elements(own.dims)) {
    own.kind = TensorKind::kOutput;
    own.index = index;
    return;
  }
  const View output = add_tensor(TensorKind::kOutput, view.dims, own.type, index);
  steps().push_back({.kind = StepKind::kReorder, .inputs = {view}, .output = output.tensor});
}

// ---- Tensors and steps.

View RegionWriter::add_tensor(TensorKind kind, const Dims& dims, ElementType type, int64_t index) {
  std::vector<TensorInfo>& tensors = result_.region.tensors;
  tensors.push_back({kind, dims, dense_strides(dims), index, 0, type});
  orders_.push_back(same_order(dims.size()));
  return {static_cast<int64_t>(tensors.size()) - 1, dims, dense_strides(dims)};
}

View RegionWriter::made(Step step, const Dims& dims, const std::vector<int>& order) {
  const ElementType type = step.largest ? ElementType::kInt32 : tensor(step.inputs[0].tensor).type;
  View value = add_tensor(TensorKind::kTemporary, permuted(dims, inverse(order)), type);
  // The value is dense in the order of its own axes; the tensor has those of oneDNN.
  const View own = permuted(value, order);
  tensor(value.tensor).dims = own.dims;
  tensor(value.tensor).strides = own.strides;
  orders_.back() = order;
  step.output = value.tensor;
  steps().push_back(std::move(step));
  return value;
}

View RegionWriter::dense(const View& value) {
  if (is_dense(value)) return {value.tensor, value.dims, dense_strides(value.dims)};
  return made({.kind = StepKind::kReorder, .inputs = {value}}, value.dims);
}

// ---- Orders of axes.

bool RegionWriter::is_whole(const View& value) const {
  const std::vector<int>& order = order_of_tensor(value.tensor);
  if (order.size() != value.dims.size()) return false;
  const View own = permuted(value, order);
  return own.dims == tensor(value.tensor).dims && own.strides == tensor(value.tensor).strides;
}

std::vector<int> RegionWriter::value_order(const View& value) const {
  return is_whole(value) ? order_of_tensor(value.tensor) : same_order(value.dims.size());
}

// ---- Fusion.

/// The step that made `operand` if it can take post-operations and nothing else reads the operand; it then
/// is the last step. Null otherwise.
Step* RegionWriter::open_step(const Expr& operand) {
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

View RegionWriter::activation(Algorithm algorithm, double alpha, double beta, const Expr& operand) {
  const View& value = value_of(operand);
  if (Step* step = open_step(operand)) {
    step->posts.push_back({PostKind::kEltwise, algorithm, alpha, beta, {}});
    return value;
  }
  const std::vector<int> order = value_order(value);
  const View own = permuted(value, order);
  return made(
      {.kind = StepKind::kEltwise, .algorithm = algorithm, .inputs = {own}, .alpha = alpha, .beta = beta},
      own.dims, order);
}

bool RegionWriter::fuse_binary(Algorithm algorithm, const Expr& operand, const View& other) {
  const Dims& shape = value_of(operand).dims;
  if (other.dims.size() > shape.size() || !broadcasts(aligned(other, shape.size()).dims, shape)) return false;
  if (other.tensor == value_of(operand).tensor) return false;
  Step* step = open_step(operand);
  if (!step) return false;
  const View own = permuted(aligned(other, shape.size()), order_of_tensor(step->output));
  const Dims& dims = tensor(step->output).dims;
  const size_t channels = channels_of(*step, dims.size());
  Dims per_channel(dims.size(), 1);
  per_channel[channels] = dims[channels];
  const bool first_sum = algorithm == Algorithm::kAdd && is_layer(*step) && step->posts.empty();
  if (first_sum && own.dims == per_channel && !has_bias(*step)) {
    step->inputs.push_back(
        step->kind == StepKind::kMatmul ? own : View{own.tensor, {dims[channels]}, {own.strides[channels]}});
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

// ---- Origins.

std::map<int64_t, size_t> RegionWriter::sizes_of_steps() const {
  std::map<int64_t, size_t> sizes;
  for (const Step& step : result_.region.steps) sizes[step.output] = step.inputs.size() + step.posts.size();
  return sizes;
}

void RegionWriter::add_origins(const OriginSet& computed, const std::map<int64_t, size_t>& before) {
  for (const auto& [id, size] : sizes_of_steps()) {
    const auto known = before.find(id);
    if (known != before.end() && known->second == size) continue;
    const auto [at, fresh] = origins_.emplace(id, computed);
    if (!fresh) at->second = at->second.merge(computed);
  }
}

}  // namespace baton::dnnl_blob
