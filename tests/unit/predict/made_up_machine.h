#pragma once
// A machine whose times follow a formula, with noise of a known size: what predictors find is then known.
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "baton/predict/dataset.h"

namespace baton::made_up {

struct Machine {
  double gflops = 80, gbytes_per_s = 20, launch_us = 1.5;
  double noise = 0.02;       ///< standard deviation of the logarithm of a time
  double per_call_us = 0.4;  ///< between the kernels of a model
  std::string name = "made up";

  DeviceSheet sheet() const {
    DeviceSheet sheet;
    sheet.name = name;
    sheet.code_target = "x86-64-linux-" + name;
    sheet.cores = 4;
    DevicePeaks peaks;
    peaks.gflops = gflops;
    peaks.gbytes_per_s = gbytes_per_s;
    peaks.cache_gbytes_per_s = gbytes_per_s * 5;
    peaks.cache_bytes = 1 << 20;
    peaks.l3_gbytes_per_s = gbytes_per_s * 2;
    peaks.l3_program_bytes = 8 << 20;
    sheet.peaks = peaks;
    return sheet;
  }

  /// Without noise: full tiles of 16 channels and 6 positions, at an efficiency that grows with the depth.
  double us(const Work& work, double channels, double positions, double depth) const {
    const double tiles =
        std::ceil(channels / 16) * 16 / channels * (std::ceil(positions / 6) * 6 / positions);
    const double efficiency = depth / (depth + 24);
    const double compute = work.flops * tiles / efficiency / gflops / 1e3;
    const double memory = work.bytes / gbytes_per_s / 1e3;
    return launch_us + std::max(compute, memory) + 0.2 * std::min(compute, memory);
  }
};

inline std::string tensor(const std::vector<int64_t>& shape) {
  std::string text = "Tensor[(";
  for (const int64_t each : shape) text += std::to_string(each) + ", ";
  return text.substr(0, text.size() - 2) + "), float32]";
}

struct Layer {
  int64_t in = 16, out = 16, size = 14, window = 3;
  bool relu = false;
  bool dense = false;
};

inline Work work_of(const Layer& l) {
  Work work;
  const std::vector<int64_t> data{1, l.in, l.size, l.size}, result{1, l.out, l.size, l.size};
  const double results = static_cast<double>(l.out * l.size * l.size);
  if (l.dense) {
    const std::string out = tensor({l.size, l.out});
    work.operators.push_back(
        {"nn.dense", Json{{"units", l.out}}, {tensor({l.size, l.in}), tensor({l.out, l.in})}, out});
    work.flops = 2.0 * static_cast<double>(l.size * l.in * l.out);
    work.bytes = 4.0 * static_cast<double>(l.size * l.in + l.in * l.out + l.size * l.out);
    if (l.relu) work.operators.push_back({"nn.relu", Json::object(), {out}, out});
  } else {
    const std::string window = std::to_string(l.window);
    work.operators.push_back(
        {"nn.conv2d",
         Json::parse(
             R"({"strides": [1, 1], "padding": [1, 1, 1, 1], "dilation": [1, 1], "groups": 1, "kernel_size": [)" +
             window + ", " + window +
             R"(], "data_layout": "NCHW", "kernel_layout": "OIHW", "out_layout": ""})"),
         {tensor(data), tensor({l.out, l.in, l.window, l.window})},
         tensor(result)});
    work.flops = 2 * results * static_cast<double>(l.in * l.window * l.window);
    work.bytes =
        4 * (results + static_cast<double>(l.in * l.size * l.size + l.out * l.in * l.window * l.window));
    if (l.relu) work.operators.push_back({"nn.relu", Json::object(), {tensor(result)}, tensor(result)});
  }
  work.text = "fn " + work.operators[0].input_types[0] + work.operators[0].input_types[1] +
              (l.relu ? " relu" : "") + (l.dense ? " dense" : "");
  work.brief = work.text;
  return work;
}

inline double exact_us(const Machine& machine, const Layer& l) {
  const Work work = work_of(l);
  const auto n = static_cast<double>(l.size);
  return machine.us(work, static_cast<double>(l.out), l.dense ? n : n * n,
                    static_cast<double>(l.in * (l.dense ? 1 : l.window * l.window)));
}

inline Measurement measured(const Machine& machine, const Layer& layer, std::mt19937& random) {
  Measurement m;
  m.work = work_of(layer);
  m.build = {"llvm",
             "llvm",
             "made up",
             3,
             layer.dense ? "gemm" : "conv_direct",
             layer.dense ? R"({"tile_m": 6})" : R"({"tile_x": 6})"};
  m.device = machine.sheet();
  m.machine = machine.name;
  m.cache = CacheState::kHot;
  m.median_us = exact_us(machine, layer) * std::exp(machine.noise * std::normal_distribution<>()(random));
  m.samples_us = {m.median_us};
  m.cv = machine.noise;
  m.begun_s = 1000;
  return m;
}

/// `count` models of each family, whose kernels are not shared but by chance: "wide" of 3x3 convolutions,
/// "narrow" of 1x1 ones, "dense" of dense layers.
inline std::vector<Measurement> campaign(const Machine& machine, int count, uint32_t seed = 1,
                                         const std::vector<std::string>& families = {"wide", "narrow",
                                                                                     "dense"}) {
  std::vector<Measurement> all;
  std::mt19937 random(seed);
  const auto any = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (const std::string& family : families)
    for (int i = 0; i < count; ++i) {
      Measurement model;
      model.work.kind = WorkKind::kModel;
      model.work.text = family + std::to_string(i) + " " + std::to_string(seed);
      model.build = {"llvm", "llvm", "made up", 3, "", "{}"};
      model.device = machine.sheet();
      model.machine = machine.name;
      model.model = family + "-" + std::to_string(i);
      model.family = family;
      model.cv = machine.noise;
      model.begun_s = 1000;
      const int64_t layers = any(4, 9);
      for (int64_t n = 0; n < layers; ++n) {
        Layer layer;
        layer.in = any(4, 200);
        layer.out = any(4, 200);
        layer.size = any(5, 40);
        layer.window = family == "narrow" ? 1 : 3;
        layer.relu = any(0, 1) == 1;
        layer.dense = family == "dense";
        Measurement kernel = measured(machine, layer, random);
        kernel.cache = CacheState::kInModel;
        kernel.model = model.model;
        kernel.model_id = model.work.id();
        kernel.family = family;
        kernel.node = static_cast<uint32_t>(n);
        model.median_us += exact_us(machine, layer) + machine.per_call_us;
        all.push_back(std::move(kernel));
      }
      model.median_us *= std::exp(machine.noise / 2 * std::normal_distribution<>()(random));
      model.samples_us = {model.median_us};
      all.push_back(std::move(model));
    }
  return all;
}

inline Dataset dataset(const std::vector<Measurement>& measurements) {
  DatasetBuilder builder;
  for (const Measurement& each : measurements) builder.add(each);
  return builder.finish();
}

}  // namespace baton::made_up
