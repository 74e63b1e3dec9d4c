#include "baton/transform/quantize/quantize.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace baton {

namespace {

DType dtype_arg(PassArgReader& reader, const std::string& pass, const std::string& name, DType fallback) {
  const AttrValue* given = reader.value(name);
  if (!given) return fallback;
  if (const DType* dtype = given->as<DType>()) return *dtype;
  const std::string* text = given->as<std::string>();
  const auto parsed = text ? DType::parse(*text) : std::nullopt;
  if (!parsed || !parsed->is_int())
    throw UsageError(pass + ": argument `" + name + "` expects an integer type such as \"int8\", got " +
                     attr_text(*given));
  return *parsed;
}

double number_arg(PassArgReader& reader, const std::string& pass, const std::string& name, double fallback) {
  const AttrValue* given = reader.value(name);
  if (!given) return fallback;
  if (const double* number = given->as<double>()) return *number;
  if (const int64_t* number = given->as<int64_t>()) return static_cast<double>(*number);
  throw UsageError(pass + ": argument `" + name + "` expects a number, got " + attr_text(*given));
}

std::vector<double> scales_arg(PassArgReader& reader, const std::string& pass) {
  const AttrValue* given = reader.value("activation_scales");
  if (!given) return {};
  const AttrList* list = given->as<AttrList>();
  std::vector<double> scales;
  for (const AttrValue& each : list ? *list : AttrList{*given}) {
    const double* number = each.as<double>();
    if (!number || !(*number > 0))
      throw UsageError(pass + ": argument `activation_scales` expects a list of positive numbers, got " +
                       attr_text(*given));
    scales.push_back(*number);
  }
  return scales;
}

void one_of(const std::string& pass, const std::string& name, const std::string& value,
            const std::vector<std::string>& allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
  std::string all;
  for (const std::string& each : allowed) all += (all.empty() ? "" : ", ") + each;
  throw UsageError(pass + ": " + name + " is \"" + value + "\"; there are " + all);
}

/// QuantizePartition and the others run at any level.
BuildContext context_for(const BuildContext& outer) {
  auto passes = std::make_shared<PassContext>(*outer.passes);
  passes->opt_level = 3;
  for (const char* pass : {"QuantizeAnnotate", "QuantizeCalibrate", "QuantizeRealize"})
    passes->required_pass.push_back(pass);
  return outer.with_passes(std::move(passes));
}

}  // namespace

QuantizeConfig quantize_config(const std::string& name, const PassArgs& args) {
  QuantizeConfig config;
  PassArgReader reader(name, args);
  config.nbit_input = reader.integer("nbit_input", config.nbit_input);
  config.nbit_weight = reader.integer("nbit_weight", config.nbit_weight);
  config.nbit_activation = reader.integer("nbit_activation", config.nbit_activation);
  for (const int64_t bits : {config.nbit_input, config.nbit_weight, config.nbit_activation})
    if (bits < 2 || bits > 32)
      throw UsageError(name + ": numbers have 2 to 32 bits, not " + std::to_string(bits));
  config.dtype_input = dtype_arg(reader, name, "dtype_input", config.dtype_input);
  config.dtype_weight = dtype_arg(reader, name, "dtype_weight", config.dtype_weight);
  config.dtype_activation = dtype_arg(reader, name, "dtype_activation", config.dtype_activation);
  config.calibrate_mode = reader.text("calibrate_mode", config.calibrate_mode);
  config.global_scale = number_arg(reader, name, "global_scale", config.global_scale);
  if (!(config.global_scale > 0) || !std::isfinite(config.global_scale))
    throw UsageError(name + ": global_scale must be positive and finite");
  config.activation_scales = scales_arg(reader, name);
  config.weight_scale = reader.text("weight_scale", config.weight_scale);
  config.skip_dense_layer = reader.flag("skip_dense_layer", config.skip_dense_layer);
  if (const AttrValue* layers = reader.value("skip_conv_layers")) {
    const AttrList* list = layers->as<AttrList>();
    config.skip_conv_layers.clear();
    for (const AttrValue& layer : list ? *list : AttrList{*layers}) {
      if (!layer.as<int64_t>())
        throw UsageError(name + ": argument `skip_conv_layers` expects a list of integers, got " +
                         attr_text(*layers));
      config.skip_conv_layers.push_back(*layer.as<int64_t>());
    }
  }
  config.do_simulation = reader.flag("do_simulation", config.do_simulation);
  config.round_for_shift = reader.flag("round_for_shift", config.round_for_shift);
  if (reader.value("debug_enabled_ops")) config.debug_enabled_ops = reader.texts("debug_enabled_ops", {});
  config.rounding = reader.text("rounding", config.rounding);
  reader.integer("calibrate_chunk_by", -1, -1);  // for those who run the data set
  config.partition_conversions = reader.text("partition_conversions", config.partition_conversions);
  reader.finish();
  one_of(name, "calibrate_mode", config.calibrate_mode, {"global_scale", "kl_divergence", "percentile"});
  one_of(name, "weight_scale", config.weight_scale, {"power2", "max"});
  one_of(name, "rounding", config.rounding, {"UPWARD", "TONEAREST"});
  one_of(name, "partition_conversions", config.partition_conversions,
         {"disabled", "enabled", "fully_integral"});
  if (config.partition_conversions != "disabled")
    throw NotSupported(name + ": partition_conversions \"" + config.partition_conversions +
                       "\" is not provided; use \"disabled\"");
  return config;
}

Pass quantize_for(const QuantizeConfig& config) {
  const Pass before =
      sequential({make_pass("SimplifyInference"), make_pass("FoldConstant"), make_pass("FoldScaleAxis"),
                  make_pass("CanonicalizeOps"), make_pass("FoldConstant")});
  std::vector<Pass> passes = {quantize_partition_for(config), quantize_annotate_for(config),
                              quantize_calibrate_for(config), make_pass("InferType")};
  if (!config.do_simulation) passes.push_back(quantize_realize_for(config));
  passes.push_back(make_pass("FoldConstant"));
  const Pass after = sequential(std::move(passes));
  return module_pass({0, "quantize", {}}, [before, after](IRModule module, const BuildContext& context) {
    module = (*before)(module, context);
    const BuildContext inner = context_for(context);
    const InstrumentScope scope(inner.passes);
    return (*after)(module, inner);
  });
}

Pass quantize(const PassArgs& args) { return quantize_for(quantize_config("quantize", args)); }
Pass quantize_partition(const PassArgs& args) {
  return quantize_partition_for(quantize_config("QuantizePartition", args));
}
Pass quantize_annotate(const PassArgs& args) {
  return quantize_annotate_for(quantize_config("QuantizeAnnotate", args));
}
Pass quantize_calibrate(const PassArgs& args) {
  return quantize_calibrate_for(quantize_config("QuantizeCalibrate", args));
}
Pass quantize_realize(const PassArgs& args) {
  return quantize_realize_for(quantize_config("QuantizeRealize", args));
}

}  // namespace baton
