#include "baton/ir/rules/read_rule.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <unordered_map>
#include <vector>

#include "baton/ir/inspect.h"
#include "baton/ir/layout.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/algebra.h"
#include "baton/ir/rules/window.h"
#include "baton/ir/visit.h"

namespace baton {

namespace {

constexpr char kSpatial[] = {'D', 'H', 'W'};

double extent_of(const Dim& dim) { return dim.is_any() ? 1.0 : static_cast<double>(dim.value()); }

double elements_in(const TensorTypeNode& type) {
  double count = 1;
  for (const Dim& dim : type.shape()) count *= extent_of(dim);
  return count;
}

double element_bytes(const TensorTypeNode& type) { return static_cast<double>(type.dtype().bytes()); }

/// The part of the results that is asked for.
double part_of_results(const CostQuery& q, double results) {
  const double all = q.output_elements();
  return all > 0 ? std::min(1.0, results / all) : 1;
}

std::string text_of(const CostQuery& q, const char* field) {
  if (!q.attrs || !q.attrs->schema().find(field)) return "";
  const AttrValue value = q.attrs->get(field);
  const std::string* text = value.as<std::string>();
  return text ? *text : "";
}

/// The extent of `letter`, its splits included; 0 where the layout has none.
double extent_along(const TensorTypeNode& type, const std::string& text, char letter) {
  const auto layout = Layout::parse(text);
  if (!layout || layout->rank() != type.rank()) return 0;
  double product = 1;
  bool found = false;
  for (int axis = 0; axis < layout->rank(); ++axis) {
    if (std::toupper(static_cast<unsigned char>(layout->axes()[static_cast<size_t>(axis)].letter)) != letter)
      continue;
    product *= extent_of(type.shape()[static_cast<size_t>(axis)]);
    found = true;
  }
  return found ? product : 0;
}

/// Elements of the first operand at positions that results look at: at most `taps` of them for each result
/// along an axis of space.
template <class Taps>
double window_reads(const CostQuery& q, const std::string& in_layout, const std::string& out_layout,
                    Taps&& taps) {
  const TensorTypeNode &data = *q.inputs.front(), &result = *q.outputs.front();
  double read = elements_in(data);
  for (const char letter : kSpatial) {
    const double in = extent_along(data, in_layout, letter);
    const double out = extent_along(result, out_layout, letter), each = taps(letter);
    if (in > 0 && out > 0 && each > 0) read *= std::min(1.0, out * each / in);
  }
  return read;
}

/// The extent of the window of a convolution or pool along `letter`; 0: not known.
double window_along(const CostQuery& q, const WindowAttrs& window, char letter) {
  if (window.size.empty() && q.inputs.size() > 1)
    return extent_along(*q.inputs[1], window.kernel_layout, letter);
  std::string axes;  // of space, as the list of extents has them
  for (const char each : kSpatial)
    if (window.data_layout.find(each) != std::string::npos) axes += each;
  const size_t at = axes.find(letter);
  if (at == std::string::npos || window.size.empty()) return 0;
  return static_cast<double>(window.size[std::min(at, window.size.size() - 1)]);
}

double reads_of_windows(const CostQuery& q, size_t input, double results) {
  if (input > 0) return q.input_elements(input);
  const WindowAttrs window = window_attrs(q.attrs);
  const std::string& out = window.out_layout.empty() ? window.data_layout : window.out_layout;
  return part_of_results(q, results) * window_reads(q, window.data_layout, out, [&](char letter) {
           return window_along(q, window, letter);
         });
}

/// A sparse product reads those columns of its dense operand that its values stand in.
double reads_of_sparse_product(const CostQuery& q, size_t input) {
  if (input > 0) return q.input_elements(input);
  const TensorTypeNode& dense = *q.inputs.front();
  double columns = extent_along(dense, text_of(q, "layout"), 'C');
  if (columns <= 0) columns = dense.rank() > 0 ? extent_of(dense.shape().back()) : 1;
  return elements_in(dense) / std::max(1.0, columns) * q.input_elements(1);
}

double neighbours_of(const CostQuery& q) {
  const std::string method = text_of(q, "method");
  if (method.starts_with("nearest")) return 1;
  return method.find("cubic") != std::string::npos ? 4 : 2;
}

double by_result(const CostQuery& q, size_t input, double results) {
  return std::min(q.input_elements(input), results);
}

double by_class(const OpDef& op, const CostQuery& q, size_t input, double results) {
  if (op.cost == conv_cost || op.cost == window_cost) return reads_of_windows(q, input, results);
  if (op.cost == sparse_product_cost) return reads_of_sparse_product(q, input);
  switch (op.fuse) {
    case Fuse::kElementwise:
    case Fuse::kBroadcast:
    case Fuse::kInjective:
    case Fuse::kTuple:
      return by_result(q, input, results);
    case Fuse::kCommReduce:
      return q.input_elements(input) * part_of_results(q, results);
    case Fuse::kOutFusable:
    case Fuse::kOpaque:
      break;
  }
  return q.input_elements(input);
}

bool is_type_only(const OpDef& op, size_t input) {
  if (op.rules.get<ValueOfType>()) return true;
  const auto* like = op.rules.get<LikeRule>();
  const auto* only = op.rules.get<TypeOnlyInput>();
  return (like && static_cast<size_t>(like->model) == input) || (only && only->input == input);
}

double elements_read(const OpDef& op, const CostQuery& q, size_t input, double results) {
  if (is_type_only(op, input)) return 0;
  const auto* rule = op.rules.get<ReadRule>();
  const double read = rule ? rule->elements(q, input, results) : by_class(op, q, input, results);
  return std::clamp(read, 0.0, q.input_elements(input));
}

/// How many elements of each value of a function its results need, from the results to the parameters.
class Demand {
 public:
  explicit Demand(const FunctionNode& function) { run(function, {}); }
  /// `asked`: elements of each tensor of the result.
  Demand(const FunctionNode& function, const std::vector<double>& asked) { run(function, asked); }

  /// Elements of each tensor of the value.
  std::vector<double> of(const Expr& value) const {
    const auto at = needed_.find(value.get());
    return at == needed_.end() ? std::vector<double>(flat_types(type_of(value)).size()) : at->second;
  }

 private:
  void run(const FunctionNode& function, const std::vector<double>& asked) {
    if (asked.empty())
      need_all(function.body());
    else
      need(function.body(), asked);
    std::vector<Expr> order;
    post_order(
        function.body(), [&](const Expr& node) { order.push_back(node); },
        [](const Expr& node) { return node->kind() != ExprKind::kFunction; });
    for (const Expr& node : order)
      if (const auto* let = as<LetNode>(node)) values_[let->var().get()] = let->value();
    for (size_t i = order.size(); i-- > 0;) pass_on(order[i]);
  }

  void need(const Expr& value, const std::vector<double>& elements) {
    const std::vector<const TensorTypeNode*> types = flat_types(type_of(value));
    std::vector<double>& all = needed_[value.get()];
    all.resize(types.size());
    for (size_t i = 0; i < std::min(types.size(), elements.size()); ++i)
      all[i] = std::min(elements_in(*types[i]), all[i] + elements[i]);
    if (const auto bound = values_.find(value.get()); bound != values_.end()) need(bound->second, elements);
  }

  void need_all(const Expr& value) {
    std::vector<double> all;
    for (const TensorTypeNode* type : flat_types(type_of(value))) all.push_back(elements_in(*type));
    need(value, all);
  }

  void pass_on(const Expr& node) {
    if (is_leaf(node->kind()) || node->kind() == ExprKind::kFunction) return;
    const std::vector<double> needed = of(node);
    if (const auto* call = as<CallNode>(node)) return pass_on(*call, needed);
    if (const auto* item = as<TupleGetItemNode>(node)) return pass_on(*item, needed);
    if (const auto* tuple = as<TupleNode>(node)) return pass_on(*tuple, needed);
    if (const auto* let = as<LetNode>(node)) return need(let->body(), needed);
    for (const Expr& each : Children(*node)) need_all(each);
  }

  void pass_on(const CallNode& call, const std::vector<double>& needed) {
    if (const auto* function = as<FunctionNode>(call.callee())) {
      const Demand inner(*function, needed);
      for (size_t i = 0; i < call.args().size(); ++i)
        need(call.args()[i], inner.of(Expr(function->params()[i])));
      return;
    }
    double results = 0;
    for (const double each : needed) results += each;
    size_t input = 0;
    const CostQuery q = cost_query(call);
    for (const Expr& arg : call.args()) {
      std::vector<double> read;
      for (size_t n = flat_types(type_of(arg)).size(); n > 0; --n, ++input)
        read.push_back(call.op() ? elements_read(*call.op(), q, input, results) : q.input_elements(input));
      need(arg, read);
    }
  }

  void pass_on(const TupleGetItemNode& item, const std::vector<double>& needed) {
    const auto* type = as_type<TupleTypeNode>(type_of(item.tuple()));
    if (!type) return need_all(item.tuple());
    std::vector<double> all;
    for (size_t field = 0; field < type->fields().size(); ++field) {
      const size_t tensors = flat_types(type->fields()[field]).size();
      const bool is_it = static_cast<int>(field) == item.index();
      for (size_t i = 0; i < tensors; ++i) all.push_back(is_it && i < needed.size() ? needed[i] : 0);
    }
    need(item.tuple(), all);
  }

  void pass_on(const TupleNode& tuple, const std::vector<double>& needed) {
    size_t at = 0;
    for (const Expr& field : tuple.fields()) {
      std::vector<double> its;
      for (size_t n = flat_types(type_of(field)).size(); n > 0; --n, ++at)
        its.push_back(at < needed.size() ? needed[at] : 0);
      need(field, its);
    }
  }

  std::unordered_map<const ExprNode*, std::vector<double>> needed_;
  std::unordered_map<const ExprNode*, Expr> values_;  ///< of the variables of lets
};

double whole_bytes(const std::vector<const TensorTypeNode*>& types) {
  double bytes = 0;
  for (const TensorTypeNode* type : types) bytes += elements_in(*type) * element_bytes(*type);
  return bytes;
}

}  // namespace

ReadRule reads_all() {
  return {[](const CostQuery& q, size_t input, double) { return q.input_elements(input); }};
}

ReadRule reads_in_parts() {
  return {[](const CostQuery& q, size_t input, double results) {
    return q.input_elements(input) * part_of_results(q, results);
  }};
}

ReadRule reads_by_result() { return {by_result}; }

ReadRule reads_neighbours() {
  return {[](const CostQuery& q, size_t input, double results) {
    if (input > 0) return by_result(q, input, results);
    const std::string layout = text_of(q, "layout");
    return part_of_results(q, results) *
           window_reads(q, layout, layout, [&](char) { return neighbours_of(q); });
  }};
}

ReadRule reads_places() {
  return {[](const CostQuery& q, size_t input, double results) {
    if (input > 0) return q.input_elements(input) * part_of_results(q, results);
    const std::string layout = text_of(q, "layout");
    double neighbours = 1;
    for (const char letter : kSpatial)
      if (layout.find(letter) != std::string::npos) neighbours *= neighbours_of(q);
    return results * neighbours;
  }};
}

CostQuery cost_query(const CallNode& call) {
  CostQuery q{call.attrs(), {}, flat_types(call.checked_type())};
  for (const Expr& arg : call.args())
    for (const TensorTypeNode* type : flat_types(type_of(arg))) q.inputs.push_back(type);
  return q;
}

double bytes_held(const CallNode& call) { return cost_query(call).bytes(); }

double bytes_moved(const CallNode& call) {
  const CostQuery q = cost_query(call);
  double bytes = whole_bytes(q.outputs);
  for (size_t i = 0; i < q.inputs.size(); ++i)
    bytes += elements_read(*call.op(), q, i, q.output_elements()) * element_bytes(*q.inputs[i]);
  return bytes;
}

double bytes_moved(const FunctionNode& function) {
  const Demand demand(function);
  double bytes = whole_bytes(flat_types(type_of(function.body())));
  for (const Var& param : function.params()) {
    const std::vector<const TensorTypeNode*> types = flat_types(type_of(*param));
    const std::vector<double> read = demand.of(Expr(param));
    for (size_t i = 0; i < types.size(); ++i) bytes += read[i] * element_bytes(*types[i]);
  }
  return bytes;
}

}  // namespace baton
