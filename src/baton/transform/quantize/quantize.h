#pragma once
// Quantisation of a float program: relay.quantize. What is fast in integers (convolutions, what follows them)
// is cut out, given scales, and computed in integers.
//   QuantizePartition   marks where integers are worth to be 8 bits wide:
//   annotation.stop_fusion(annotation.cast_hint(x)) QuantizeAnnotate    says what is rounded:
//   simulated_quantize(x, scale, least, most) QuantizeCalibrate   chooses the scales QuantizeRealize computes
//   in integers
#include <optional>
#include <string>
#include <vector>

#include "baton/pass/pass.h"

namespace baton {

/// What qconfig() sets; names and defaults are TVM's.
struct QuantizeConfig {
  int64_t nbit_input = 8, nbit_weight = 8, nbit_activation = 32;
  DType dtype_input = DType::int_(8), dtype_weight = DType::int_(8), dtype_activation = DType::int_(32);
  std::string calibrate_mode = "global_scale";
  double global_scale = 8;
  /// By a data set (quantize_statistics.h): one for each of values_to_calibrate(); else global_scale counts.
  std::vector<double> activation_scales;
  std::string weight_scale = "power2";  ///< or "max"
  bool skip_dense_layer = true;
  std::vector<int64_t> skip_conv_layers = {0};
  bool do_simulation = false;  ///< stops before QuantizeRealize
  bool round_for_shift = true;
  std::optional<std::vector<std::string>> debug_enabled_ops;  ///< only these are quantised
  std::string rounding = "UPWARD";
  std::string partition_conversions = "disabled";
};

/// Reads them from the arguments of pass `name`. UsageError for a wrong value, NotSupported for one that
/// Baton cannot do.
QuantizeConfig quantize_config(const std::string& name, const PassArgs& args);

Pass quantize_partition_for(const QuantizeConfig& config);
Pass quantize_annotate_for(const QuantizeConfig& config);
Pass quantize_calibrate_for(const QuantizeConfig& config);
Pass quantize_realize_for(const QuantizeConfig& config);
/// All of them, with what they need before and after.
Pass quantize_for(const QuantizeConfig& config);

/// The calls of simulated_quantize in `function` that do not round a weight, in the order in which
/// QuantizeCalibrate gives them their scales.
std::vector<Expr> values_to_calibrate(const Function& function);

/// What a simulated_quantize rounds; numbers as in TVM.
enum class QuantizeKind : int64_t { kInput = 1, kWeight = 2, kActivation = 3 };

}  // namespace baton
