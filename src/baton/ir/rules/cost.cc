#include "baton/ir/rules/cost.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "baton/ir/inspect.h"
#include "baton/ir/layout.h"
#include "baton/ir/op.h"

namespace baton {

namespace {

double extent(const Dim& dim) { return dim.is_any() ? 1.0 : static_cast<double>(dim.value()); }

double elements_of(const TensorTypeNode& type) {
  double count = 1;
  for (const Dim& dim : type.shape()) count *= extent(dim);
  return count;
}

double bytes_of(const std::vector<const TensorTypeNode*>& types) {
  double count = 0;
  for (const TensorTypeNode* type : types)
    count += elements_of(*type) * static_cast<double>(type->dtype().bytes());
  return count;
}

/// The extent of `letter` in a layout such as "NCHW16c": the primal axis times its splits; 1 when absent.
double extent_in(const TensorTypeNode& type, std::string_view layout, char letter) {
  double product = 1;
  size_t axis = 0;
  for (char at : layout) {
    if (std::isdigit(static_cast<unsigned char>(at))) continue;
    if (std::toupper(static_cast<unsigned char>(at)) == letter && axis < type.shape().size())
      product *= extent(type.shape()[axis]);
    ++axis;
  }
  return product;
}

double extent_from_back(const TensorTypeNode& type, size_t from_back) {
  const size_t rank = type.shape().size();
  return rank <= from_back ? 1.0 : extent(type.shape()[rank - 1 - from_back]);
}

std::string text_or(const CostQuery& q, std::string_view field, std::string fallback) {
  const AttrValue value = q.attrs ? q.attrs->get(field) : AttrValue();
  const std::string* text = value.as<std::string>();
  return text && !text->empty() ? *text : std::move(fallback);
}

double groups_of(const CostQuery& q) {
  const AttrValue value = q.attrs ? q.attrs->get("groups") : AttrValue();
  const int64_t* groups = value.as<int64_t>();
  return groups ? std::max(1.0, static_cast<double>(*groups)) : 1.0;
}

/// The product of a list of extents such as kernel_size; 0 when there is none.
double list_product(const CostQuery& q, std::string_view field) {
  const AttrValue value = q.attrs ? q.attrs->get(field) : AttrValue();
  const AttrList* list = value.as<AttrList>();
  if (!list || list->empty()) return 0;
  double product = 1;
  for (const AttrValue& item : *list)
    if (const int64_t* number = item.as<int64_t>()) product *= static_cast<double>(*number);
  return product;
}

double taps(const CostQuery& q) {
  const double named = list_product(q, "kernel_size");
  if (named != 0) return named;
  const TensorTypeNode& weight = *q.inputs.at(1);
  const std::string layout = text_or(q, "kernel_layout", "OIHW");
  return elements_of(weight) / extent_in(weight, layout, 'O') / extent_in(weight, layout, 'I');
}

// ---- Multiply-accumulate counts, for relay.analysis

std::vector<int64_t> static_shape(const Expr& expr, const CallNode& call) {
  const TensorTypeNode* type = static_type_of(expr);
  if (!type) throw Error("get_total_mac_number: " + call.op()->name + " has no static type; run InferType");
  std::vector<int64_t> shape;
  for (const Dim& dim : type->shape()) shape.push_back(dim.value());
  return shape;
}

int64_t product(const std::vector<int64_t>& values) {
  int64_t result = 1;
  for (const int64_t value : values) result *= value;
  return result;
}

/// The extent along `C`, split or not.
int64_t channels(const std::vector<int64_t>& shape, const std::string& text) {
  const std::optional<Layout> layout = Layout::parse(text);
  int64_t result = 1;
  bool found = false;
  for (int i = 0; layout && i < layout->rank() && i < static_cast<int>(shape.size()); ++i) {
    if (layout->axes()[static_cast<size_t>(i)].letter != 'C') continue;
    result *= shape[static_cast<size_t>(i)];
    found = true;
  }
  if (!found) throw Error("get_total_mac_number: the layout " + text + " has no channels");
  return result;
}

/// The extents of the window: kernel_size, or those of the weight where that is not given.
int64_t window_size(const CallNode& call) {
  const std::vector<int64_t> given = ints_attr(call, "kernel_size");
  if (!given.empty()) return product(given);
  const std::vector<int64_t> weight = static_shape(call.args()[1], call);
  const std::optional<Layout> layout = Layout::parse(text_attr(call, "kernel_layout"));
  int64_t result = 1;
  for (size_t i = 0; layout && i < weight.size() && i < layout->axes().size(); ++i)
    if (const char letter = layout->axes()[i].letter; letter == 'H' || letter == 'W') result *= weight[i];
  return result;
}

int64_t conv_mac_count(const CallNode& call) {
  const std::string layout = text_attr(call, "data_layout"), named = text_attr(call, "out_layout");
  const int64_t inputs = channels(static_shape(call.args()[0], call), layout);
  const std::vector<int64_t> result = static_shape(Expr(&call), call);
  int64_t elements = product(result);
  // Blocks of channels may be filled up; what fills them is not counted.
  const AttrValue outputs = call.attrs()->get("channels");
  if (outputs.as<int64_t>() && elements > 0)
    elements = elements / channels(result, named.empty() ? layout : named) * *outputs.as<int64_t>();
  return elements * window_size(call) * (inputs / int_attr(call, "groups"));
}

// The number of output elements times the length of the sum for each.
int64_t product_mac_count(const CallNode& call) {
  const std::vector<int64_t> left = static_shape(call.args()[0], call);
  const bool transposed = call.attrs()->schema().find("transpose_a") && bool_attr(call, "transpose_a");
  return product(static_shape(Expr(&call), call)) * left[left.size() - (transposed ? 2 : 1)];
}

}  // namespace

double CostQuery::input_elements(size_t input) const { return elements_of(*inputs.at(input)); }

double CostQuery::output_elements() const {
  double count = 0;
  for (const TensorTypeNode* type : outputs) count += elements_of(*type);
  return count;
}

double CostQuery::bytes() const { return bytes_of(inputs) + bytes_of(outputs); }

CostFacts moving_cost(const CostQuery& q) { return q.computing(0); }

CostFacts conv_cost(const CostQuery& q) {
  const double summed = taps(q) * extent_in(*q.inputs.at(0), text_or(q, "data_layout", "NCHW"), 'C');
  return q.computing(2 * q.output_elements() * summed / groups_of(q));
}

CostFacts conv_transpose_cost(const CostQuery& q) {
  const std::string layout = text_or(q, "out_layout", text_or(q, "data_layout", "NCHW"));
  const double channels_out = extent_in(*q.outputs.at(0), layout, 'C');
  return q.computing(2 * q.input_elements() * taps(q) * channels_out / groups_of(q));
}

CostFacts conv_weight_gradient_cost(const CostQuery& q) {
  // Each element of the gradient is multiplied by the weights of its channel once.
  const double channels_out = extent_in(*q.inputs.at(0), text_or(q, "data_layout", "NCHW"), 'C');
  return q.computing(2 * q.input_elements() * q.output_elements() / channels_out);
}

CostFacts dense_cost(const CostQuery& q) {
  return q.computing(2 * q.output_elements() * extent_from_back(*q.inputs.at(0), 0));
}

CostFacts matmul_cost(const CostQuery& q) {
  const AttrValue value = q.attrs ? q.attrs->get("transpose_a") : AttrValue();
  const bool* transposed = value.as<bool>();
  return q.computing(2 * q.output_elements() *
                     extent_from_back(*q.inputs.at(0), transposed && *transposed ? 1 : 0));
}

CostFacts sparse_product_cost(const CostQuery& q) {
  // The dense operand is (rows, reduced) or (N, H, W, reduced).
  const TensorTypeNode& dense = *q.inputs.at(0);
  const std::string layout = text_or(q, "layout", "");
  const double summed = layout.empty() ? extent_from_back(dense, 0) : extent_in(dense, layout, 'C');
  return q.computing(2 * q.input_elements(1) * q.input_elements() / std::max(1.0, summed));
}

CostFacts window_cost(const CostQuery& q) {
  return q.computing(q.output_elements() * list_product(q, "pool_size"));
}

CostFacts window_gradient_cost(const CostQuery& q) {
  return q.computing(q.input_elements() * list_product(q, "pool_size"));
}

std::string_view cost_class(const OpDef& op) {
  if (op.cost == conv_cost || op.cost == conv_transpose_cost || op.cost == conv_weight_gradient_cost)
    return "conv";
  if (op.cost == dense_cost || op.cost == matmul_cost || op.cost == sparse_product_cost) return "dense";
  if (op.cost == window_cost || op.cost == window_gradient_cost) return "pool";
  if (op.cost == moving_cost) return "move";
  switch (op.fuse) {
    case Fuse::kElementwise:
    case Fuse::kBroadcast:
      return "elementwise";
    case Fuse::kInjective:
    case Fuse::kTuple:
      return "move";
    case Fuse::kCommReduce:
      return "reduce";
    case Fuse::kOutFusable:
    case Fuse::kOpaque:
      break;
  }
  return "other";
}

double functions_of(const OpDef* op) {
  const auto* rule = op ? op->rules.get<Transcendental>() : nullptr;
  return rule ? rule->functions : 0;
}

MacRule conv_macs() { return {conv_mac_count}; }
MacRule product_macs() { return {product_mac_count}; }

}  // namespace baton
