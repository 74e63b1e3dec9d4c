#pragma once
// Made-up measurements.
#include <ostream>
#include <string>

#include "baton/store/measurement.h"
#include "baton/store/measurement_json.h"

namespace baton {

inline void PrintTo(const Measurement& measurement, std::ostream* out) {
  *out << measurement_line(measurement);
}

}  // namespace baton

namespace baton::made_up {

/// A measurement whose fields all differ from their defaults. `number`: rows of different numbers differ.
inline Measurement measurement(int number = 0) {
  Measurement m;
  m.work.text = "fn (%p0: Tensor[(1, " + std::to_string(3 + number % 7) + "), float32]) { nn.relu(%p0) }";
  m.work.brief = "relu 1x" + std::to_string(3 + number % 7);
  m.work.operators = {{"nn.conv2d",
                       Json::parse(R"({"strides":[2,2],"kernel_size":[3,3],"data_layout":"NCHW","x":0.1})"),
                       {"a", "b"},
                       "c"},
                      {"nn.relu", Json::object(), {"c"}, "c"}};
  m.work.flops = 1e9 + number % 7;
  m.work.bytes = 1.0 / 3;
  m.build = {"llvm", "llvm -mcpu=znver4", "baton 0.1.0", 2, "conv_direct", R"({"rows":4})"};
  m.device.name = "A processor";
  m.device.cores = 8;
  m.device.peaks = DevicePeaks{2, 100.5, 20.25, 0.1, 1, 2, 3, 1700000000};
  m.device.links = {{"gpu0", 12.5, 8}};
  m.machine = "here";
  m.threads = 4;
  m.cache = CacheState::kInModel;
  for (int i = 0; i < 30; ++i) m.samples_us.push_back(100.0 / 3 + i * 0.1 + number);
  m.disturbed = {3, 29};
  m.outliers = {7};
  m.median_us = 34.7 + number;
  m.cv = 0.0123456789012345678;
  m.plus_minus_us = 5e-324;
  m.unreliable = "others were busy";
  m.simulated = "sim_npu";
  m.load = 0.25;
  m.others_busy = 0.125;
  m.core_ns = 1712.5;
  m.reference_us = 99.9;
  m.begun_s = 1'700'000'000 + number;
  m.model = "resnet-18";
  m.model_id = "0123456789abcdef0123456789abcdef";
  m.family = "resnet";
  m.node = 12;
  m.calls = 3;
  m.origins = {{5, "nn.conv2d", "line 12"}, {6, "nn.relu", ""}};
  m.made_for = {{7, "add", "node \"Add_3\""}};
  m.share = 0.75;
  m.method = "markers";
  m.protocol = "campaign";
  m.campaign = "first";
  m.configuration = "c" + std::to_string(number);
  return m;
}

}  // namespace baton::made_up
