#pragma once
// Schedule templates: how a fused function that was lowered to Halide becomes a fast kernel.
// Included by .cc files of schedule and codegen only (it needs Halide.h).
#include <map>
#include <string>
#include <vector>

#include "baton/ops/compute.h"
#include "baton/target/device_sheet.h"

namespace baton {

/// One operator of a fused function, as Halide Funcs.
struct OpBlock {
  Ref<const CallNode> call;
  const OpDef* op = nullptr;
  std::vector<int> producers;  ///< for each flattened input: index of the block that makes it, or -1 (a
                               ///< parameter or scalar)
  std::vector<Tensor> inputs;  ///< flattened
  std::vector<Stage> stages;   ///< in the order made
  std::vector<Halide::Func> results;  ///< one per output; usually the last stage's Func
  int consumers = 0;                  ///< blocks that read it (kernel outputs count one each)

  /// The stage of that name, or null.
  const Halide::Func* stage(const std::string& name) const {
    for (const Stage& s : stages)
      if (s.name == name) return &s.func;
    return nullptr;
  }
};

/// A fused function lowered to Halide and not scheduled yet: every extent is a constant, every buffer is
/// dense, row-major in Relay order and aligned to 64 bytes.
struct LoweredKernel {
  std::string name;
  std::vector<OpBlock> blocks;  ///< topological order
  int anchor = -1;  ///< the block of the heaviest operator (the only kOutFusable or kCommReduce one), or -1
  std::vector<Halide::ImageParam> inputs;  ///< one per tensor parameter, in order
  std::vector<Tensor> outputs;  ///< one per output: Funcs that copy nothing (the last block's results)
};

/// Named integers that a template is steered by: {"tile_x", 14}, {"unroll", 4}.
using ScheduleParams = std::map<std::string, int>;

struct ScheduleTemplate {
  const char* name;
  const char* doc;
  /// Whether the template can schedule `kernel`: empty when it can, else the reason why not (one line, for
  /// `explain`).
  std::string (*refuses)(const LoweredKernel& kernel, const DeviceSheet& sheet);
  /// The parameters chosen by formula.
  ScheduleParams (*default_params)(const LoweredKernel& kernel, const DeviceSheet& sheet);
  /// All parameter sets worth trying, for the tuner; the default among them.
  std::vector<ScheduleParams> (*candidates)(const LoweredKernel& kernel, const DeviceSheet& sheet);
  /// Schedules all Funcs of `kernel` in place.
  void (*apply)(LoweredKernel& kernel, const ScheduleParams& params, const DeviceSheet& sheet);
};

/// All templates in the order they are asked (templates.def): the first that does not refuse is taken; the
/// last, "trivial", never refuses.
const std::vector<const ScheduleTemplate*>& schedule_templates();
const ScheduleTemplate& find_template(const LoweredKernel& kernel, const DeviceSheet& sheet);

}  // namespace baton
