#include "baton/transform/quantize/quantize_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <unordered_set>

#include "baton/ir/build.h"
#include "baton/ir/functions.h"
#include "baton/ir/op_names.h"
#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"
#include "baton/support/pointer_map.h"
#include "baton/transform/quantize/quantize.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

// ---- The values that are rounded

/// Takes every rounding away.
class Unrounded final : public Rewriter {
 public:
  const Expr& argument_of(const Expr& rounded) const { return *arguments_.find(rounded.get()); }

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    if (!call_of(original, op_names::kSimulatedQuantize)) return rebuilt;
    const Expr& argument = as<CallNode>(rebuilt)->args()[0];
    arguments_.insert(original.get(), argument);
    return argument;
  }
  PointerMap<Expr> arguments_;
};

Function main_of(const IRModule& module) {
  const Function main = module->find("main");
  if (!main) throw UsageError("quantize: the module has no function main");
  return main;
}

// ---- Distributions

constexpr int kBins = 8001, kSteps = 255;  // both odd: zero has a bin of its own

std::span<const float> finite_values(const NDArray& values) {
  if (values.dtype() != DType::float_(32))
    throw Error("quantize: a scale is chosen for float32 values, not for " + values.dtype().str());
  const std::span<const float> all = values.as<float>();
  if (all.empty()) throw UsageError("quantize: the data set has no sample");
  if (!std::ranges::all_of(all, [](float each) { return std::isfinite(each); }))
    throw Error("quantize: on the data set a value that is to be rounded is NaN or infinite");
  return all;
}

double largest_magnitude(std::span<const float> values) {
  float largest = 0;
  for (const float each : values) largest = std::max(largest, std::fabs(each));
  return largest;
}

/// How many values lie in each of kBins equal parts of -limit to limit.
std::vector<double> histogram(std::span<const float> values, double limit) {
  std::vector<double> counts(kBins, 0);
  for (const float each : values) {
    const double place = (static_cast<double>(each) + limit) / (2 * limit) * kBins;
    counts[static_cast<size_t>(std::clamp(static_cast<int>(place), 0, kBins - 1))] += 1;
  }
  return counts;
}

/// `counts` with as much added to the empty bins as is taken from the others: logarithms then exist. False
/// where there is not enough to take.
bool fill_empty_bins(std::vector<double>& counts) {
  constexpr double kAdded = 1e-4;
  const auto empty = static_cast<double>(std::ranges::count(counts, 0.0));
  const double filled = static_cast<double>(counts.size()) - empty;
  if (filled == 0 || kAdded * empty / filled >= 1) return false;
  for (double& count : counts) count += count == 0 ? kAdded : -kAdded * empty / filled;
  return true;
}

double divergence(const std::vector<double>& p, const std::vector<double>& q) {
  const double all_p = std::accumulate(p.begin(), p.end(), 0.0),
               all_q = std::accumulate(q.begin(), q.end(), 0.0);
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) sum += p[i] / all_p * std::log(p[i] / all_p / (q[i] / all_q));
  return sum;
}

/// `counts` in kSteps steps of equally many bins, the last one with what remains; each step spread evenly
/// over its bins that `reference` has something in.
std::vector<double> in_steps(std::span<const double> counts, const std::vector<double>& reference) {
  std::vector<double> result(counts.size(), 0);
  const size_t width = counts.size() / kSteps;
  for (size_t step = 0; step < kSteps; ++step) {
    const size_t begin = step * width, end = step + 1 == kSteps ? counts.size() : begin + width;
    double sum = 0, used = 0;
    for (size_t i = begin; i < end; ++i) sum += counts[i], used += reference[i] != 0;
    for (size_t i = begin; i < end; ++i)
      if (reference[i] != 0) result[i] = sum / used;
  }
  return result;
}

}  // namespace

size_t count_rounded_values(const IRModule& module) { return values_to_calibrate(main_of(module)).size(); }

IRModule rounded_values(const IRModule& module, size_t first, size_t count) {
  const Function main = main_of(module);
  const std::vector<Expr> rounded = values_to_calibrate(main);
  if (first > rounded.size() || count > rounded.size() - first)
    throw UsageError("quantize: the module has " + std::to_string(rounded.size()) + " values to be rounded");
  Unrounded unrounded;
  const auto whole = as_ref<FunctionNode>(unrounded.run(Expr(main)));
  std::vector<Expr> fields;
  for (size_t i = first; i < first + count; ++i) fields.push_back(unrounded.argument_of(rounded[i]));
  const Expr body = make_tuple(std::move(fields), NodeInfo(OriginSet::none()));
  std::unordered_set<const ExprNode*> placeholders;
  post_order(Expr(main), [&](const Expr& node) {
    if (const CallNode* call = call_of(node, op_names::kSimulatedQuantize))
      for (size_t i = 1; i < call->args().size(); ++i) placeholders.insert(call->args()[i].get());
  });
  std::vector<Var> params;
  for (const Var& param : whole->params())
    if (!placeholders.contains(param.get())) params.push_back(param);
  const IRModule result = module->copy();
  result->set("main", make_function(std::move(params), body, {}, whole->attrs(), NodeInfo(whole->origins())));
  return infer_types(result);
}

double scale_by_divergence(const NDArray& values) {
  const std::span<const float> all = finite_values(values);
  const double limit = largest_magnitude(all);
  if (limit == 0) return 1;
  const std::vector<double> counts = histogram(all, limit);
  constexpr int kMiddle = kBins / 2;
  double least = std::numeric_limits<double>::infinity(), best = limit;
  double below = 0, above = 0;  // what lies outside of the cut
  for (int i = 0; i < kMiddle - kSteps / 2; ++i) below += counts[i], above += counts[kBins - 1 - i];
  for (int half = kSteps / 2; half <= kMiddle; ++half) {
    const auto inside = std::span(counts).subspan(kMiddle - half, 2 * half + 1);
    std::vector<double> p(inside.begin(), inside.end());
    p.front() += below, p.back() += above;
    std::vector<double> q = in_steps(inside, p);
    if (fill_empty_bins(p) && fill_empty_bins(q)) {
      const double lost = divergence(p, q);
      if (lost < least) least = lost, best = limit * (2 * half + 1) / kBins;
    }
    if (half < kMiddle) below -= counts[kMiddle - half - 1], above -= counts[kMiddle + half + 1];
  }
  return best;
}

double scale_by_percentile(const NDArray& values) {
  const std::span<const float> all = finite_values(values);
  std::vector<float> magnitudes(all.begin(), all.end());
  for (float& each : magnitudes) each = std::fabs(each);
  const auto at = std::min(static_cast<size_t>(static_cast<double>(all.size()) * 0.99999), all.size() - 1);
  std::nth_element(magnitudes.begin(), magnitudes.begin() + static_cast<ptrdiff_t>(at), magnitudes.end());
  return magnitudes[at] == 0 ? 1 : magnitudes[at];
}

}  // namespace baton
