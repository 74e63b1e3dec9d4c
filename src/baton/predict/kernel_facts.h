#pragma once
// What predictors derive from a kernel before they compute features and terms of it: the extents of its
// heaviest operator, its roofline, and the loops of its schedule.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "baton/ir/rules/cost.h"
#include "baton/predict/extents.h"
#include "baton/predict/kernel_case.h"
#include "baton/predict/roofline_base.h"

namespace baton {

/// Work done over work wanted when `extent` is covered by pieces of `piece`: 1 where they fit.
inline double rounding(double extent, double piece) {
  return extent > 0 && piece > 1 ? std::ceil(extent / piece) * piece / extent : 1;
}

/// What features and terms read of a kernel.
struct KernelFacts {
  const KernelCase& of;
  const DescribedOperator* anchor;
  std::string_view kind;  ///< cost_class of the anchor
  Extents e;
  RooflineTime roofline;
  SheetRates rates;
  WinogradTiles winograd;
  LoopCounts loops;
  double weight_bytes = 0, in_bytes = 0, out_bytes = 0;
  double inputs = 0, calls = 0;

  explicit KernelFacts(const KernelCase& c)
      : of(c),
        anchor(c.kernel.anchored()),
        kind(anchor && anchor->op ? cost_class(*anchor->op) : "other"),
        e(anchor ? extents_of(c.kernel, *anchor) : Extents()),
        roofline(roofline_time(c.kernel, *c.sheet, c.threads, c.model.working_set)),
        rates(sheet_rates(*c.sheet, c.threads)),
        winograd(winograd_tiles(anchor, e)),
        loops(loops_of_template(c.template_name,
                                {.extents = e,
                                 .winograd = winograd,
                                 .lanes = lanes(),
                                 .positions = [&] { return positions_of(anchor); }},
                                c.parameters)) {
    calls = static_cast<double>(c.kernel.operators.size());
    for (const DescribedOperator& op : c.kernel.operators) inputs += static_cast<double>(op.inputs.size());
    inputs -= std::max(0.0, calls - 1);
    weight_bytes = c.kernel.weight_bytes();
    out_bytes = c.kernel.result_bytes();
    in_bytes = std::max(0.0, c.kernel.bytes - out_bytes - weight_bytes);
  }

  double count(std::string_view wanted) const {
    double n = 0;
    for (const DescribedOperator& op : of.kernel.operators)
      n += &op != anchor && op.op && cost_class(*op.op) == wanted;
    return n;
  }
  /// At the sheet's peak: all that the schedule computes, or where it is not known, whole vectors.
  double rounded_compute_us() const {
    const double operations =
        of.parameters.empty() ? of.kernel.flops * rounding(e.columns, lanes()) : loops.operations();
    return operations / rates.gflops / 1e3;
  }
  DType dtype() const { return anchor && !anchor->inputs.empty() ? anchor->inputs[0].dtype : DType(); }
  double lanes() const { return std::max(1, of.sheet->float_lanes); }
  double is(std::string_view wanted) const { return kind == wanted; }
};

/// Its kind, as training counts kernels: cost_class() of the anchor.
std::string kind_of_kernel(const KernelCase& kernel);
/// "convolutions"; for messages.
std::string kind_name(const std::string& kind);
/// Below this no kernel can be: its operations at the peak of the sheet, its bytes at twice the rate of the
/// caches (the first level is faster than what sheets have the rate of).
double least_us(const KernelCase& kernel);

}  // namespace baton
