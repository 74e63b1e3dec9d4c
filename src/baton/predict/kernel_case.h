#pragma once
// What a kernel predictor is asked about: the operators of a fused function with their sizes, and how and
// where they run. Made from a fused function, or from the Work of a measurement: both give the same case.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/window.h"
#include "baton/schedule/loops.h"
#include "baton/store/measurement.h"

namespace baton {

struct DescribedTensor {
  std::vector<int64_t> extents;
  DType dtype;
  double elements() const;
  double bytes() const;
};

/// One call of a kernel.
struct DescribedOperator {
  std::string name;
  const OpDef* op = nullptr;  ///< null: this version of Baton has no such operator
  WindowAttrs window;         ///< its size is that of the weight where the call does not say it
  std::vector<DescribedTensor> inputs, results;  ///< tuples flattened
};

/// The value for axis `index`; the last one stands for those behind it, and `otherwise` for none.
inline int64_t along_axis(const std::vector<int64_t>& values, size_t index, int64_t otherwise) {
  return values.empty() ? otherwise : values[std::min(index, values.size() - 1)];
}

struct KernelDescription {
  std::vector<DescribedOperator> operators;  ///< in order of execution
  double flops = 0, bytes = 0;               ///< by the cost rules
  int anchor = -1;                           ///< index of the heaviest operator; -1: there are no operators

  const DescribedOperator* anchored() const { return anchor < 0 ? nullptr : &operators[anchor]; }
  /// Bytes of the anchor's operands but the first, where it is a convolution or a product: read once per
  /// call.
  double weight_bytes() const;
  double result_bytes() const;
};

/// Kernels of a model, and how often a run calls each.
using CalledKernels = std::vector<std::pair<const KernelDescription*, double>>;

/// What passes through the caches between two calls of one kernel of a model, in bytes; 0: not known.
struct ModelTraffic {
  double working_set = 0;  ///< all weights, and the largest activations, whose memory the others share
  double distinct = 0;     ///< all weights and all results, as if none shared memory
  double moved = 0;        ///< inputs and results of all calls, without weights
};

ModelTraffic traffic_of(const CalledKernels& kernels);

/// `function`: typed, extents are constants. Throws NotSupported for an unknown extent.
KernelDescription describe(const FunctionNode& function);
/// One call of it, as a part of the kernel.
KernelDescription describe(const CallNode& call);
/// By the cost rules of today where the work's text can be read. Throws Error for types or attributes that
/// cannot be read.
KernelDescription describe(const Work& work);

/// A kernel, its build and its place.
struct KernelCase {
  KernelDescription kernel;
  std::string backend;        ///< "llvm"
  std::string template_name;  ///< empty: not known before the kernel is made (a library chooses by itself)
  ScheduleParams parameters;
  std::shared_ptr<const DeviceSheet> sheet;
  int threads = 1;
  CacheState cache = CacheState::kInModel;
  ModelTraffic model;  ///< of the model that it runs in
};

/// The case of a measured kernel or part. `described`: its work; `sheet`: the measurement's, shared by all
/// cases of a device.
KernelCase case_of(const Measurement& measurement, KernelDescription described,
                   std::shared_ptr<const DeviceSheet> sheet);
/// Whether the schedule of this backend's kernels is known before they are compiled.
bool knows_schedules(std::string_view backend);

}  // namespace baton
