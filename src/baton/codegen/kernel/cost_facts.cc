#include "baton/codegen/kernel/cost_facts.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "baton/ir/op.h"

namespace baton {
namespace {

double elements(const TensorTypeNode& type) {
  double count = 1;
  for (const Dim& dim : type.shape()) count *= dim.is_any() ? 1.0 : static_cast<double>(dim.value());
  return count;
}

double elements(const std::vector<const TensorTypeNode*>& types) {
  double count = 0;
  for (const TensorTypeNode* type : types) count += elements(*type);
  return count;
}

double bytes(const std::vector<const TensorTypeNode*>& types) {
  double count = 0;
  for (const TensorTypeNode* type : types)
    count += elements(*type) * static_cast<double>(type->dtype().bytes());
  return count;
}

std::vector<const TensorTypeNode*> input_types(const CallNode& call) {
  std::vector<const TensorTypeNode*> all;
  for (const Expr& arg : call.args())
    for (const TensorTypeNode* type : flat_types(type_of(arg))) all.push_back(type);
  return all;
}

/// The extent of `letter` in a layout such as "NCHW16c": the plain axis times its packed part; 1 when it has
/// none.
double extent_in(const TensorTypeNode& type, std::string_view layout, char letter) {
  double extent = 1;
  size_t axis = 0;
  for (char at : layout) {
    if (std::isdigit(static_cast<unsigned char>(at))) continue;
    const bool match = std::toupper(static_cast<unsigned char>(at)) == letter;
    if (match && axis < type.shape().size() && !type.shape()[axis].is_any())
      extent *= static_cast<double>(type.shape()[axis].value());
    ++axis;
  }
  return extent;
}

std::string text_attr(const Attrs& attrs, std::string_view name, std::string fallback) {
  const AttrValue value = attrs ? attrs->get(name) : AttrValue();
  const std::string* text = value.as<std::string>();
  return text && !text->empty() ? *text : std::move(fallback);
}

double int_attr(const Attrs& attrs, std::string_view name, int64_t fallback) {
  const AttrValue value = attrs ? attrs->get(name) : AttrValue();
  const int64_t* number = value.as<int64_t>();
  return static_cast<double>(number ? *number : fallback);
}

bool flag_attr(const Attrs& attrs, std::string_view name) {
  const AttrValue value = attrs ? attrs->get(name) : AttrValue();
  const bool* flag = value.as<bool>();
  return flag && *flag;
}

/// The product of a list of extents such as kernel_size; 0 when there is none.
double list_product(const Attrs& attrs, std::string_view name) {
  const AttrValue value = attrs ? attrs->get(name) : AttrValue();
  const AttrList* list = value.as<AttrList>();
  if (!list || list->empty()) return 0;
  double product = 1;
  for (const AttrValue& item : *list)
    if (const int64_t* number = item.as<int64_t>()) product *= static_cast<double>(*number);
  return product;
}

bool is_convolution(std::string_view op) {
  return op.find("conv") != std::string_view::npos && op.starts_with("nn.");
}

double convolution(const CallNode& call, const std::vector<const TensorTypeNode*>& in, double out) {
  const Attrs& attrs = call.attrs();
  const bool transposed = call.op()->name.find("transpose") != std::string::npos;
  const std::string layout = text_attr(attrs, "data_layout", "NCHW");
  double taps = list_product(attrs, "kernel_size");
  if (taps == 0 && in.size() > 1) {
    const std::string kernel = text_attr(attrs, "kernel_layout", "OIHW");
    taps = elements(*in[1]) / extent_in(*in[1], kernel, 'O') / extent_in(*in[1], kernel, 'I');
  }
  const double groups = std::max(1.0, int_attr(attrs, "groups", 1));
  if (transposed) return 2 * elements(*in[0]) * taps * int_attr(attrs, "channels", 1) / groups;
  return 2 * out * taps * extent_in(*in[0], layout, 'C') / groups;
}

double last_extent(const TensorTypeNode& type, size_t from_back) {
  if (type.shape().size() <= from_back) return 1;
  const Dim& dim = type.shape()[type.shape().size() - 1 - from_back];
  return dim.is_any() ? 1.0 : static_cast<double>(dim.value());
}

bool is_weight_transform(std::string_view op) {
  return op.find("weight_transform") != std::string_view::npos &&
         op.find("without") == std::string_view::npos;
}

double operations(const CallNode& call, const std::vector<const TensorTypeNode*>& in, double out) {
  const OpDef& op = *call.op();
  const double widest = std::max(out, in.empty() ? 0.0 : elements(*in[0]));
  if (is_convolution(op.name) && !is_weight_transform(op.name) && !in.empty())
    return convolution(call, in, out);
  if (op.name.find("dense") != std::string::npos && in.size() > 1) return 2 * out * last_extent(*in[0], 0);
  if ((op.name == "nn.batch_matmul" || op.name == "nn.matmul") && !in.empty())
    return 2 * out * last_extent(*in[0], flag_attr(call.attrs(), "transpose_a") ? 1 : 0);
  if (const double window = list_product(call.attrs(), "pool_size"); window > 0) return out * window;
  switch (op.fuse) {
    case Fuse::kElementwise:
    case Fuse::kBroadcast:
      return out;
    case Fuse::kInjective:
    case Fuse::kTuple:
      return 0;  // moves data only
    case Fuse::kCommReduce:
    case Fuse::kOutFusable:
    case Fuse::kOpaque:
      return widest;
  }
  return 0;
}

}  // namespace

CostFacts cost_of_call(const CallNode& call) {
  const auto in = input_types(call);
  const auto out = flat_types(call.checked_type());
  return {operations(call, in, elements(out)), bytes(in) + bytes(out)};
}

CostFacts cost_of_function(const FunctionNode& function, const std::vector<CostFacts>& calls) {
  CostFacts sum;
  for (const CostFacts& call : calls) sum.flops += call.flops;
  for (const Var& param : function.params()) sum.bytes += bytes(flat_types(type_of(*param)));
  sum.bytes += bytes(flat_types(type_of(function.body())));
  return sum;
}

}  // namespace baton
