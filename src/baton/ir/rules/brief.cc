#include "baton/ir/rules/brief.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "baton/ir/extent.h"
#include "baton/ir/inspect.h"
#include "baton/ir/layout.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"

namespace baton {

namespace {

/// Extents by axis letter. The axes other than batch and channels, in order, are the spatial ones.
using Axes = std::map<char, Dim>;

std::string text_of(Dim dim) { return extent_text(dim); }

bool is_one(Dim dim) { return dim == Dim(1); }

AttrValue attr_or_none(const CostQuery& q, std::string_view field) {
  return q.attrs ? q.attrs->get(field) : AttrValue();
}

std::string layout_or(const CostQuery& q, std::string_view field, std::string fallback) {
  const AttrValue value = attr_or_none(q, field);
  const std::string* text = value.as<std::string>();
  return text && !text->empty() ? *text : std::move(fallback);
}

std::vector<int64_t> numbers(const CostQuery& q, std::string_view field) {
  const AttrValue value = attr_or_none(q, field);
  if (const int64_t* number = value.as<int64_t>()) return {*number};
  std::vector<int64_t> found;
  if (const AttrList* list = value.as<AttrList>())
    for (const AttrValue& item : *list)
      if (const int64_t* number = item.as<int64_t>()) found.push_back(*number);
  return found;
}

Axes axes_of(const TensorTypeNode& type, const std::string& text) {
  const std::optional<Layout> layout = Layout::parse(text);
  if (!layout || layout->rank() != type.rank()) return {};
  const std::string primal = layout->primal();
  const std::vector<Dim> shape = convert_shape(type.shape(), *layout, *Layout::parse(primal));
  Axes axes;
  for (size_t i = 0; i < primal.size(); ++i) axes.emplace(primal[i], shape[i]);
  return axes;
}

Dim along(const Axes& axes, char letter) {
  const auto at = axes.find(letter);
  return at == axes.end() ? Dim(1) : at->second;
}

/// Depth, height and width, as far as there are any.
std::vector<Dim> spatial(const Axes& axes) {
  std::vector<Dim> dims;
  for (const char letter : {'D', 'H', 'W'})
    if (const auto at = axes.find(letter); at != axes.end()) dims.push_back(at->second);
  return dims;
}

template <class Extent>
std::string times_text(const std::vector<Extent>& extents) {
  std::string text;
  for (const Extent& extent : extents) text += (text.empty() ? "" : "x") + text_of(Dim(extent));
  return text;
}

/// "3" for 3x3.
template <class Extent>
std::string once_if_equal(const std::vector<Extent>& extents) {
  const bool equal =
      std::all_of(extents.begin(), extents.end(), [&](const Extent& e) { return e == extents[0]; });
  return equal && !extents.empty() ? text_of(Dim(extents[0])) : times_text(extents);
}

bool all_one(const std::vector<int64_t>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](int64_t each) { return each == 1; });
}

void add_word(std::string& text, const std::string& word) {
  if (!word.empty()) text += (text.empty() ? "" : " ") + word;
}

std::string window_text(std::string window, const CostQuery& q) {
  const std::vector<int64_t> strides = numbers(q, "strides");
  if (!window.empty() && !all_one(strides)) window += "/" + once_if_equal(strides);
  return window;
}

/// "@56 x8"
void add_place(std::string& text, const Axes& data) {
  const std::vector<Dim> extents = spatial(data);
  if (!extents.empty()) add_word(text, "@" + once_if_equal(extents));
  if (!is_one(along(data, 'N'))) add_word(text, "x" + text_of(along(data, 'N')));
}

std::string kernel_text(const CostQuery& q) {
  const std::vector<int64_t> named = numbers(q, "kernel_size");
  if (!named.empty()) return times_text(named);
  const TensorTypeNode& weight = *q.inputs.at(1);
  const char* const layouts[] = {"OIW", "OIHW", "OIDHW"};
  const size_t rank = static_cast<size_t>(std::clamp(weight.rank(), 3, 5));
  return times_text(spatial(axes_of(weight, layout_or(q, "kernel_layout", layouts[rank - 3]))));
}

std::string conv_sizes(const CostQuery& q) {
  const std::string layout = layout_or(q, "data_layout", "NCHW");
  const Axes data = axes_of(*q.inputs.at(0), layout);
  const Axes result = axes_of(*q.outputs.at(0), layout_or(q, "out_layout", layout));
  const Dim in = along(data, 'C'), out = along(result, 'C');
  std::string text = window_text(kernel_text(q), q);
  const std::vector<int64_t> groups = numbers(q, "groups"), dilation = numbers(q, "dilation");
  const bool grouped = !all_one(groups), depthwise = grouped && in == Dim(groups[0]);
  add_word(text, depthwise ? "depthwise" : "");
  add_word(text, depthwise && in == out ? text_of(in) : text_of(in) + "->" + text_of(out));
  if (grouped && !depthwise) add_word(text, "groups=" + std::to_string(groups[0]));
  if (!all_one(dilation)) add_word(text, "dilated=" + once_if_equal(dilation));
  add_place(text, data);
  return text;
}

std::string window_sizes(const CostQuery& q) {
  const Axes data = axes_of(*q.inputs.at(0), layout_or(q, "layout", "NCHW"));
  std::string text = window_text(times_text(numbers(q, "pool_size")), q);
  if (!data.empty()) add_word(text, text_of(along(data, 'C')));
  add_place(text, data);
  return text;
}

Dim from_back(const TensorTypeNode& type, int position) {
  return type.rank() > position ? type.shape()[static_cast<size_t>(type.rank() - 1 - position)] : Dim(1);
}

/// The product of the extents before the last `inner`: " x12"; "" for 1.
std::string outer_text(const TensorTypeNode& type, int inner) {
  int64_t product = 1;
  for (int i = 0; i < type.rank() - inner; ++i) {
    const Dim dim = type.shape()[static_cast<size_t>(i)];
    if (dim.is_any()) return " x?";
    product *= dim.value();
  }
  return product == 1 ? "" : " x" + std::to_string(product);
}

std::string dense_sizes(const CostQuery& q) {
  const TensorTypeNode& result = *q.outputs.at(0);
  return text_of(from_back(*q.inputs.at(0), 0)) + "->" + text_of(from_back(result, 0)) +
         outer_text(result, 1);
}

std::string matmul_sizes(const CostQuery& q) {
  const AttrValue value = attr_or_none(q, "transpose_a");
  const bool* transposed = value.as<bool>();
  const TensorTypeNode& result = *q.outputs.at(0);
  const Dim summed = from_back(*q.inputs.at(0), transposed && *transposed ? 1 : 0);
  return times_text(std::vector<Dim>{from_back(result, 1), summed, from_back(result, 0)}) +
         outer_text(result, 2);
}

std::string result_sizes(const CostQuery& q) {
  return q.outputs.empty() ? std::string() : times_text(q.outputs[0]->shape());
}

}  // namespace

BriefRule conv_brief() { return {conv_sizes}; }
BriefRule window_brief() { return {window_sizes}; }
BriefRule dense_brief() { return {dense_sizes}; }
BriefRule matmul_brief() { return {matmul_sizes}; }

std::string brief_name(const std::string& op) { return op.starts_with("nn.") ? op.substr(3) : op; }

std::string brief_of_call(const CallNode& call) {
  const OpDef& op = *call.op();
  std::string text = brief_name(op.name);
  if (!call.checked_type()) return text;
  CostQuery q{call.attrs(), {}, flat_types(call.checked_type())};
  for (const Expr& arg : call.args()) {
    if (!arg->checked_type()) return text;
    for (const TensorTypeNode* type : flat_types(arg->checked_type())) q.inputs.push_back(type);
  }
  const BriefRule* rule = op.rules.get<BriefRule>();
  add_word(text, rule ? rule->sizes(q) : result_sizes(q));
  return text;
}

std::string brief_of_function(const FunctionNode& function) {
  std::string text;
  post_order(function.body(), [&](const Expr& expr) {
    const auto* call = as<CallNode>(expr);
    if (call && call->op()) text += (text.empty() ? "" : " + ") + brief_of_call(*call);
  });
  return text;
}

}  // namespace baton
