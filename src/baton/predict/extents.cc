#include "baton/predict/extents.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "baton/ir/layout.h"
#include "baton/ir/rules/cost.h"

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
  const std::string_view text = op.text("data_layout").empty() ? op.text("layout") : op.text("data_layout");
  const auto layout = Layout::parse(text);
  if (!layout || op.inputs.empty() || op.results.empty()) return;
  const auto out_layout = op.text("out_layout").empty() ? layout : Layout::parse(op.text("out_layout"));
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
  const char* window = op.numbers.count("kernel_size") ? "kernel_size" : "pool_size";
  const size_t last = op.numbers.count(window) && op.numbers.find(window)->second.size() == 1 ? 0 : 1;
  e.kernel_h = last ? static_cast<double>(op.number(window, 0, 1)) : 1;
  e.kernel_w = static_cast<double>(op.number(window, last, 1));
  e.stride_h = static_cast<double>(op.number("strides", 0, 1));
  e.stride_w = static_cast<double>(op.number("strides", 1, 1));
  e.dilation_h = static_cast<double>(op.number("dilation", 0, 1));
  e.dilation_w = static_cast<double>(op.number("dilation", 1, 1));
  e.padding_h = static_cast<double>(op.number("padding", 0, 0));
  e.padding_w = static_cast<double>(op.number("padding", 1, 0));
  e.groups = static_cast<double>(op.number("groups", 0, 1));
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

WinogradTiles::WinogradTiles(const DescribedOperator* op, const Extents& e) {
  if (!op || op->name.find("winograd") == std::string::npos || op->inputs.size() < 2) return;
  const std::vector<int64_t>& weight = op->inputs[1].extents;
  if (weight.size() < 2) return;
  down = static_cast<double>(weight[0]) - e.kernel_h + 1;
  across = static_cast<double>(weight[1]) - e.kernel_w + 1;
  if (down < 1 || across < 1) {
    down = across = 0;
    return;
  }
  tiles_down = std::ceil(e.out_h / down), tiles_across = std::ceil(e.out_w / across);
  multiplies = tiles(e) * inputs(e) * e.in * e.out;
}

}  // namespace baton
