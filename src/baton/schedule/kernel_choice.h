#pragma once
// The interface that chooses algorithms, layouts and schedules of kernels (design D14). The default uses the
// cost model; a store of tuned schedules, or a tuner with one under trial, sets its own in the BuildContext.
// Does not need Halide.
#include <map>
#include <memory>
#include <string>

#include "baton/ir/expr.h"
#include "baton/schedule/conv_algorithm.h"

namespace baton {

struct LayerSurroundings;  // layout_cost.h

/// The algorithm of a 2-D convolution, and the channels per block (1: not blocked).
struct ConvChoice {
  ConvAlgorithm algorithm;
  int64_t in_block = 1, out_block = 1;
};

/// A dense layer: data (rows, depth) times a weight (units, depth).
struct DenseShape {
  int64_t rows = 1, units = 1, depth = 1;
  bool constant = true;  ///< the weight: others are packed in every run
};

/// A constant weight of float32.
struct WeightUse {
  int64_t elements = 0;
  double products = 0;      ///< how often a run multiplies each element
  int64_t model_bytes = 0;  ///< of all such weights of the model
};

/// Dense layers of fewer rows are bound by reading their weight, once.
constexpr int kFewestGemmRows = 4;

/// The schedule of a kernel. Empty: the first applicable template; the template's default parameters.
struct KernelSchedule {
  std::string template_name;
  std::map<std::string, int> params;
};

/// Thread safe. Methods that are not overridden use the cost model.
class KernelChoice {
 public:
  virtual ~KernelChoice() = default;
  /// Called by the layout pass before the weight is packed.
  virtual ConvChoice conv2d(const ConvShape& shape, const DeviceSheet& sheet) const;
  /// Whether a convolution of float32 that has blocks is computed in them, given what stands around it.
  /// Called by the layout pass.
  virtual bool takes_blocks(const ConvShape& shape, const LayerSurroundings& around,
                            const DeviceSheet& sheet) const;
  /// As conv2d() for a transposed convolution (blocks only; of one axis, the width's); in_block and out_block
  /// are 1 where it is computed in plain layouts.
  virtual ConvChoice conv_transpose(const ConvShape& shape, const DeviceSheet& sheet) const;
  /// Whether the weight of a dense layer is packed. Called by the layout pass.
  virtual bool packs_dense(const DenseShape& shape, const DeviceSheet& sheet) const;
  /// Output features per block of a packed dense weight (`NK16n`); 1: not packed. Called by the layout pass.
  virtual int64_t dense_block(int64_t units, const DeviceSheet& sheet) const;
  /// Whether the constant weight of a layer is stored as bfloat16. Called under the precision "bf16".
  virtual bool narrows_weight(const WeightUse& use, const DeviceSheet& sheet) const;
  /// Called for each fused function when its kernel is compiled.
  virtual KernelSchedule schedule(const Function& function, const DeviceSheet& sheet) const;
};

/// The default choice, by cost model.
std::shared_ptr<const KernelChoice> cost_model_choice();
/// As `choice`, but convolutions are sums of products: no Winograd.
std::shared_ptr<const KernelChoice> strict_choice(std::shared_ptr<const KernelChoice> choice);
/// `own`, that of a BuildContext, or the default when it is null.
std::shared_ptr<const KernelChoice> choice_or_default(std::shared_ptr<const KernelChoice> own);

}  // namespace baton
