#include "baton/frontend/workloads/resnet_plan.h"

#include <map>
#include <string>

#include "baton/support/error.h"

namespace baton::workloads {

ResNetPlan resnet_plan(int num_layers, int64_t height) {
  if (height <= 28) {
    const bool deep = num_layers >= 164 && (num_layers - 2) % 9 == 0;
    if (!deep && ((num_layers - 2) % 6 != 0 || num_layers >= 164))
      throw Error("a ResNet of " + std::to_string(num_layers) + " layers has no form for images of height " +
                  std::to_string(height) + "; use 6n+2 layers (below 164), or 9n+2 (from 164 on)");
    const int per_stage = (num_layers - 2) / (deep ? 9 : 6);
    return {deep,
            true,
            {per_stage, per_stage, per_stage},
            deep ? std::vector<int64_t>{16, 64, 128, 256} : std::vector<int64_t>{16, 16, 32, 64}};
  }
  static const std::map<int, std::vector<int>> kUnits = {
      {18, {2, 2, 2, 2}},   {34, {3, 4, 6, 3}},    {50, {3, 4, 6, 3}},   {101, {3, 4, 23, 3}},
      {152, {3, 8, 36, 3}}, {200, {3, 24, 36, 3}}, {269, {3, 30, 48, 8}}};
  const auto units = kUnits.find(num_layers);
  if (units == kUnits.end())
    throw Error("there is no ResNet of " + std::to_string(num_layers) +
                " layers; use 18, 34, 50, 101, 152, 200 or 269");
  const bool deep = num_layers >= 50;
  return {
      deep, false, units->second,
      deep ? std::vector<int64_t>{64, 256, 512, 1024, 2048} : std::vector<int64_t>{64, 64, 128, 256, 512}};
}

}  // namespace baton::workloads
