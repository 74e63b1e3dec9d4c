#pragma once
// The depths of pre-activation ResNets, for images and for video.
#include <cstdint>
#include <vector>

namespace baton::workloads {

struct ResNetPlan {
  bool bottleneck;               ///< units of three convolutions: 1, 3, 1
  bool small_image;              ///< the form for CIFAR: a first convolution of 3, no pooling
  std::vector<int> units;        ///< of each stage
  std::vector<int64_t> filters;  ///< before the first stage, then one per stage
};

/// 18, 34, 50, 101, 152, 200 or 269 layers; images of a height of up to 28 have the CIFAR form ((layers - 2)
/// divisible by 6, or by 9 from 164 on). Error for other numbers.
ResNetPlan resnet_plan(int num_layers, int64_t height);

}  // namespace baton::workloads
