#include "baton/predict/extents.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/ir/layout.h"
#include "baton/ir/rules/cost.h"
#include "baton/ir/rules/pass_traits.h"

namespace baton {

namespace {

double extent(const DescribedTensor& tensor, const Layout& layout, char letter) {
  if (layout.rank() != static_cast<int>(tensor.extents.size())) return 1;
  double product = 1;
  for (int i = 0; i < layout.rank(); ++i)
    if (std::toupper(layout.axes()[i].letter) == letter) product *= static_cast<double>(tensor.extents[i]);
  return product;
}

void read_window(const DescribedOperator& op, Extents& e) {
  const WindowAttrs& window = op.window;
  const auto layout = Layout::parse(window.data_layout);
  if (!layout || op.inputs.empty() || op.results.empty()) return;
  const auto out_layout = window.out_layout.empty() ? layout : Layout::parse(window.out_layout);
  const DescribedTensor &data = op.inputs[0], &result = op.results[0];
  const Layout& to = out_layout ? *out_layout : *layout;
  e.batch = extent(data, *layout, 'N');
  e.in = extent(data, *layout, 'C');
  e.in_h = extent(data, *layout, 'H') * extent(data, *layout, 'D');
  e.in_w = extent(data, *layout, 'W');
  e.out = extent(result, to, 'C');
  e.out_h = extent(result, to, 'H') * extent(result, to, 'D');
  e.out_w = extent(result, to, 'W');
  e.in_block = static_cast<double>(layout->factor('C'));
  e.out_block = static_cast<double>(to.factor('C'));
}

}  // namespace

Extents extents_of(const KernelDescription& kernel, const DescribedOperator& op) {
  Extents e;
  const DescribedTensor none;
  const DescribedTensor& result = op.results.empty() ? none : op.results[0];
  const DescribedTensor& data = op.inputs.empty() ? none : op.inputs[0];
  e.inner = result.extents.empty() ? 1 : static_cast<double>(result.extents.back());
  read_window(op, e);
  const auto along = [](const std::vector<int64_t>& values, size_t axis, int64_t otherwise) {
    return static_cast<double>(along_axis(values, axis, otherwise));
  };
  const WindowAttrs& window = op.window;
  e.kernel_h = window.size.size() == 1 ? 1 : along(window.size, 0, 1);
  e.kernel_w = along(window.size, 1, 1);
  e.stride_h = along(window.strides, 0, 1), e.stride_w = along(window.strides, 1, 1);
  e.dilation_h = along(window.dilation, 0, 1), e.dilation_w = along(window.dilation, 1, 1);
  e.padding_h = along(window.padding, 0, 0), e.padding_w = along(window.padding, 1, 0);
  e.groups = static_cast<double>(window.groups);
  const std::string_view kind = op.op ? cost_class(*op.op) : "other";
  const double results = std::max(result.elements(), 1.0);
  if (kind == "conv") {
    e.reduction = e.in / std::max(e.groups, 1.0) * e.kernel_h * e.kernel_w;
    e.rows = e.batch * e.out_h * e.out_w;
    e.columns = e.out;
  } else if (kind == "dense") {
    // Packed weights have other ranks: what each result sums follows from the operations.
    e.reduction = std::max(1.0, kernel.flops / 2 / results);
    if (!data.extents.empty()) e.reduction = std::min(e.reduction, std::max(1.0, data.elements()));
    e.columns = e.inner;
    e.rows = results / std::max(e.inner, 1.0);
    e.in = e.reduction;
    e.out = e.columns;
  } else {
    e.reduction = std::max(1.0, data.elements() / results);
    if (kind == "pool") e.reduction = e.kernel_h * e.kernel_w;
    e.columns = e.inner;
    e.rows = results / std::max(e.inner, 1.0);
  }
  return e;
}

WinogradTiles winograd_tiles(const DescribedOperator* op, const Extents& e) {
  WinogradTiles w;
  const auto* anchor = op && op->op ? op->op->rules.get<AnchorRule>() : nullptr;
  if (!anchor || !transforms_tiles(anchor->of_template) || op->inputs.size() < 2) return w;
  const std::vector<int64_t>& weight = op->inputs[1].extents;
  if (weight.size() < 2) return w;
  const double down = static_cast<double>(weight[0]) - e.kernel_h + 1,
               across = static_cast<double>(weight[1]) - e.kernel_w + 1;
  if (down < 1 || across < 1) return w;
  w.down = down, w.across = across;
  w.tiles_down = std::ceil(e.out_h / down), w.tiles_across = std::ceil(e.out_w / across);
  w.multiplies = w.tiles(e) * w.inputs(e) * e.in * e.out;
  return w;
}

std::optional<ConvPositions> positions_of(const DescribedOperator* op) {
  if (!op || op->inputs.size() < 2 || op->results.empty() || op->window.strides.empty()) return {};
  ConvPositionsOf of;
  of.data = op->inputs[0].extents, of.weight = op->inputs[1].extents, of.out = op->results[0].extents;
  of.strides = op->window.strides;
  of.groups = op->window.groups;
  const size_t count = of.strides.size();
  if (of.data.size() != count + 2 || of.weight.size() != count + 2 || of.out.size() != count + 2) return {};
  for (size_t i = 0; i < count; ++i) {
    of.dilation.push_back(along_axis(op->window.dilation, i, 1));
    of.before.push_back(along_axis(op->window.padding, i, 0));
  }
  const bool transposed = op->op && op->op->cost == conv_transpose_cost;
  return conv_positions(transposed ? as_convolution(std::move(of)) : join_pixels(std::move(of)));
}

}  // namespace baton
