// Gives the placeholders of QuantizeAnnotate their values:
//   scale = largest magnitude / 2^(bits - 1),   bounds = -+(2^(bits - 1) - 1)
// The largest magnitude of a weight is looked up; that of anything else is global_scale, or was found on a
// data set.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "baton/ir/build.h"
#include "baton/ir/op_names.h"
#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"
#include "baton/transform/quantize/quantize.h"

namespace baton {

namespace {

double largest_magnitude(const CallNode& rounded) {
  const auto* weight = as<ConstantNode>(rounded.args()[0]);
  if (!weight || weight->value().dtype() != DType::float_(32))
    throw NotSupported(
        "quantize: a weight must be a float32 constant to have a scale; bind the parameters first (params=)");
  double largest = 0;
  for (const float each : weight->value().as<float>())
    largest = std::max(largest, std::fabs(static_cast<double>(each)));
  return largest;
}

double weight_scale(const CallNode& rounded, const QuantizeConfig& config) {
  const double largest = largest_magnitude(rounded);
  if (config.weight_scale == "max" || largest == 0) return largest == 0 ? 1 : largest;
  return std::exp2(std::ceil(std::log2(largest)));
}

QuantizeKind kind_of(const CallNode& rounded) { return static_cast<QuantizeKind>(int_attr(rounded, "kind")); }

/// One scale for each of `count` values.
std::vector<double> scales_of_values(const QuantizeConfig& config, size_t count) {
  if (config.calibrate_mode == "global_scale" || count == 0)
    return std::vector<double>(count, config.global_scale);
  if (config.activation_scales.size() != count)
    throw UsageError("quantize: calibrate_mode \"" + config.calibrate_mode + "\" needs the scales of " +
                     std::to_string(count) + " values, " + std::to_string(config.activation_scales.size()) +
                     " are given; relay.quantize.quantize finds them on dataset=, or use \"global_scale\"");
  return config.activation_scales;
}

Function calibrated(const Function& function, const QuantizeConfig& config) {
  const std::vector<double> scales = scales_of_values(config, values_to_calibrate(function).size());
  size_t next = 0;
  std::unordered_map<const ExprNode*, Expr> values;
  post_order(Expr(function), [&](const Expr& node) {
    const CallNode* rounded = call_of(node, op_names::kSimulatedQuantize);
    if (!rounded) return;
    const QuantizeKind kind = kind_of(*rounded);
    const int64_t bits = kind == QuantizeKind::kWeight  ? config.nbit_weight
                         : kind == QuantizeKind::kInput ? config.nbit_input
                                                        : config.nbit_activation;
    const double range = std::exp2(static_cast<double>(bits - (bool_attr(*rounded, "sign") ? 1 : 0)));
    const double scale = kind == QuantizeKind::kWeight ? weight_scale(*rounded, config) : scales.at(next++);
    const double given[] = {scale / range, -(range - 1), range - 1};
    for (size_t i = 0; i < 3; ++i) {
      const Expr& placeholder = rounded->args()[i + 1];
      if (placeholder->kind() != ExprKind::kVar) continue;
      const OriginScope scope(rounded->origins());
      values.emplace(placeholder.get(), Expr(scalar(given[i], DType::float_(32))));
    }
  });
  if (values.empty()) return function;
  std::vector<Var> params;
  for (const Var& param : function->params())
    if (!values.count(param.get())) params.push_back(param);
  return remake_function(*function, std::move(params), substitute(function->body(), values));
}

}  // namespace

std::vector<Expr> values_to_calibrate(const Function& function) {
  std::vector<Expr> values;
  post_order(Expr(function), [&](const Expr& node) {
    const CallNode* rounded = call_of(node, op_names::kSimulatedQuantize);
    if (rounded && kind_of(*rounded) != QuantizeKind::kWeight) values.push_back(node);
  });
  return values;
}

Pass quantize_calibrate_for(const QuantizeConfig& config) {
  return function_pass({1, "QuantizeCalibrate", {}},
                       [config](const Function& function, const IRModule&, const PassContext&) {
                         return calibrated(function, config);
                       });
}

}  // namespace baton
