#pragma once
// The one door through which algorithms, layouts and schedules of kernels are chosen (design D14). The
// default decides by cost model; a store of tuned schedules, or a tuner with one under trial, puts a choice
// of its own into the BuildContext. No Halide needed.
#include <map>
#include <memory>
#include <string>

#include "baton/ir/expr.h"
#include "baton/schedule/conv_algorithm.h"

namespace baton {

/// How a 2-D convolution is computed, and in blocks of how many channels (1: not in blocks).
struct ConvChoice {
  ConvAlgorithm algorithm;
  int64_t in_block = 1, out_block = 1;
};

/// The schedule of a kernel. Empty: the first template that takes it; the template's own parameters.
struct KernelSchedule {
  std::string template_name;
  std::map<std::string, int> params;
};

/// Thread safe. What is not overridden is chosen by cost model.
class KernelChoice {
 public:
  virtual ~KernelChoice() = default;
  /// Asked by the layout pass, before the weight is packed.
  virtual ConvChoice conv2d(const ConvShape& shape, const DeviceSheet& sheet) const;
  /// Output features per block of a packed dense weight (`NK16n`); 1: not packed. Asked by the layout pass.
  virtual int64_t dense_block(int64_t units, const DeviceSheet& sheet) const;
  /// Asked for each fused function when its kernel is made.
  virtual KernelSchedule schedule(const Function& function, const DeviceSheet& sheet) const;
};

/// The choice by cost model.
std::shared_ptr<const KernelChoice> cost_model_choice();

}  // namespace baton
