// nn.pad in front of an operator that pads by itself:
//   conv(pad(x, 0))        ->  conv(x, padding)
//   max_pool(pad(x, min))  ->  max_pool(x, padding)
//   avg_pool(pad(x, 0))    ->  avg_pool(x, padding, count_include_pad=True)
// Only the spatial axes may be padded, and by what the operator pads with: qnn.conv2d pads with the zero
// point of its data. A padded tensor that others read is there anyway; its readers keep it.
#include <cmath>
#include <limits>
#include <optional>

#include "baton/ir/build.h"
#include "baton/ir/layout.h"
#include "baton/ir/rules/pass_traits.h"
#include "baton/pass/dataflow_graph.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"

namespace baton {

namespace {

/// Paddings of the spatial axes, all at the front first, then all at the back; nothing when another axis is
/// padded.
std::optional<std::vector<int64_t>> spatial_padding(const CallNode& pad, const std::string& layout_text,
                                                    size_t spatial) {
  const auto layout = Layout::parse(layout_text);
  const AttrValue width = pad.attrs()->get("pad_width");
  const AttrList* widths = width.as<AttrList>();
  if (!layout || !widths || static_cast<int>(widths->size()) != layout->rank()) return std::nullopt;
  std::vector<int64_t> front, back;
  for (int axis = 0; axis < layout->rank(); ++axis) {
    const std::vector<int64_t> pair = ints_of((*widths)[axis]);
    const bool is_spatial = std::string("DHW").find(layout->axes()[axis].letter) != std::string::npos;
    if (!is_spatial && (pair.at(0) != 0 || pair.at(1) != 0)) return std::nullopt;
    if (pair.at(0) < 0 || pair.at(1) < 0) return std::nullopt;  // cut off
    if (!is_spatial) continue;
    front.push_back(pair.at(0));
    back.push_back(pair.at(1));
  }
  if (front.size() != spatial) return std::nullopt;
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

double least(DType dtype) {
  if (dtype.is_float())
    return dtype.bits == 64   ? std::numeric_limits<double>::lowest()
           : dtype.bits == 32 ? std::numeric_limits<float>::lowest()
                              : -65504;
  return dtype.is_uint() ? 0 : -std::ldexp(1.0, dtype.bits - 1);
}

/// 2 values of an operator over one spatial axis, 4 over two, ...
bool padding_of(const CallNode& call, size_t spatial, std::vector<int64_t>& padding) {
  padding = ints_attr(call, "padding");
  if (padding.size() == 1) padding.assign(spatial, padding[0]);
  if (padding.size() == spatial) padding.insert(padding.end(), padding.begin(), padding.end());
  return padding.size() == 2 * spatial;
}

/// What the operator pads with; nothing when it does not, or that is not known.
std::optional<double> padded_with(const CallNode& call, DType dtype) {
  switch (*call.op()->rules.get<OwnPadding>()) {
    case OwnPadding::kQuantizedConvolution:
      return scalar_value(call.args()[2]);
    case OwnPadding::kMaximum:
      return least(dtype);
    case OwnPadding::kConvolution:
    case OwnPadding::kAverage:
      return 0;
  }
  return std::nullopt;
}

class PaddingFolder final : public Rewriter {
 public:
  explicit PaddingFolder(Function function) : function_(std::move(function)) {}

 private:
  bool is_for_one(const Expr& pad, const Expr& reader) {
    if (!graph_) graph_.emplace(Expr(function_));
    const uint32_t top = graph_->number_of(reader.get());
    for (uint32_t user : graph_->users(graph_->number_of(pad.get())))
      if (user != top && !graph_->post_dominated(user, top)) return false;
    return true;
  }

  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const auto* call = as<CallNode>(rebuilt);
    const CallNode* pad =
        call && call->op() && !call->args().empty() ? call_of(call->args()[0], "nn.pad") : nullptr;
    if (!pad || text_attr(*pad, "pad_mode") != "constant") return rebuilt;
    const auto* own = call->op()->rules.get<OwnPadding>();
    const std::optional<double> value = scalar_value(pad->args()[1]);
    const TensorTypeNode* type = tensor_type_of(as<CallNode>(original)->args()[0]);
    if (!value || !type || !own || !is_for_one(as<CallNode>(original)->args()[0], original)) return rebuilt;
    const bool average = *own == OwnPadding::kAverage, maximum = *own == OwnPadding::kMaximum;
    const bool conv = !average && !maximum;
    const size_t spatial = ints_attr(*call, "strides").size();
    if (padded_with(*call, type->dtype()) != value) return rebuilt;
    std::vector<int64_t> padding;
    const auto added = spatial_padding(*pad, text_attr(*call, conv ? "data_layout" : "layout"), spatial);
    if (!added || !padding_of(*call, spatial, padding)) return rebuilt;
    // Cells that the pool itself pads would have been counted, or not, unlike those of nn.pad.
    for (int64_t own : padding)
      if (average && own != 0 && !bool_attr(*call, "count_include_pad")) return rebuilt;
    for (size_t i = 0; i < padding.size(); ++i) padding[i] += (*added)[i];
    NamedAttrs fields = {{"padding", padding}};
    if (average) fields.emplace_back("count_include_pad", true);
    const OriginScope scope(call->origins().merge(pad->origins()));
    std::vector<Expr> args = call->args();
    args[0] = pad->args()[0];
    return call_expr(call->callee(), std::move(args), with_fields(call->attrs(), fields));
  }

  Function function_;
  std::optional<DataflowGraph> graph_;  // made when something is padded
};

}  // namespace

Pass fold_explicit_padding() {
  // The leading blank is part of the name in TVM.
  return function_pass({0, " FoldExplicitPadding", {"InferType"}},
                       [](const Function& function, const IRModule&, const PassContext&) {
                         return as_ref<FunctionNode>(PaddingFolder(function).run(function));
                       });
}

}  // namespace baton
