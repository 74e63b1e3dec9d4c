#pragma once
// Schedule templates: schedule a fused function that was lowered to Halide. For .cc files of schedule and
// codegen only (needs Halide.h).
#include <string>
#include <vector>

#include "baton/ir/extent.h"
#include "baton/ops/compute.h"
#include "baton/schedule/loops.h"
#include "baton/schedule/lowered/open_tiles.h"
#include "baton/schedule/lowered/stream_ahead.h"
#include "baton/target/device_sheet.h"

namespace baton {

/// One operator of a fused function, as Halide Funcs.
struct OpBlock {
  Ref<const CallNode> call;
  const OpDef* op = nullptr;
  std::vector<int> producers;         ///< per flattened input: index of the block that computes it, or -1 (a
                                      ///< parameter or scalar)
  std::vector<Tensor> inputs;         ///< flattened
  std::vector<Stage> stages;          ///< in creation order
  std::vector<Halide::Func> results;  ///< one per output; usually the last stage's Func
  int consumers = 0;                  ///< number of blocks that read it (kernel outputs count one each)

  /// The named stage, or null.
  const Halide::Func* stage(const std::string& name) const {
    for (const Stage& s : stages)
      if (s.name == name) return &s.func;
    return nullptr;
  }
};

/// Numbers that symbolic extents stand for when the schedule of a kernel is chosen: of unknown length, and
/// then those of the schedules for shorter ones, down to 1, whose schedule holds for any length.
using UsualExtents = std::vector<int64_t>;

/// What the schedule of a kernel with symbolic extents takes for granted: `dim` is at least `least`, the size
/// of its tiles, which are of vectors of `lanes`. Where `rival` is not 0, it is the size of those in the
/// schedule for shorter extents, which is used instead where its last tile is less in vain.
struct LeastExtent {
  Dim dim = 0;
  int least = 1, lanes = 1, rival = 0;
  friend bool operator==(const LeastExtent&, const LeastExtent&) = default;
};

/// A fused function lowered to Halide and not yet scheduled: extents are constant or of numbered_extent()s;
/// buffers are dense, row-major in Relay order and 64-byte aligned.
struct LoweredKernel {
  std::string name;
  std::vector<OpBlock> blocks;  ///< topological order
  int anchor = -1;  ///< the block of the heaviest operator (the only kOutFusable or kCommReduce one), or -1
  std::vector<Halide::ImageParam> inputs;         ///< one per tensor parameter, in order
  std::vector<std::vector<Dim>> input_dims = {};  ///< their extents
  std::vector<StreamAhead> streams;               ///< prefetches that the template asks for
  std::vector<OpenTile> open_tiles;               ///< loops whose iterations are written out
  std::vector<Tensor> outputs;  ///< one per output: Funcs without copies (the last block's results)
  int extents = 0;              ///< numbered_extent()s: parameters of the kernel
  /// A number for each of these that templates count with; its schedule holds for all others, too.
  std::vector<int64_t> usual = {};
  /// What the schedule takes for granted; others get the kernel of another schedule.
  std::vector<LeastExtent> least = {};
  /// Extents that an operator needs to be at least 1, or it would read what is not there.
  std::vector<Dim> never_empty = {};

  bool is_static() const { return extents == 0; }
  /// `dim` as a number to choose a schedule by: itself, or at usual extents; >= 1 for symbolic ones. Where
  /// the usual ones are 1, the least that it can be.
  int64_t usual_extent(Dim dim) const;
  /// Whether numbered_extent(extent) is the batch of the kernel's convolution or pooling, and nothing else.
  bool is_batch(int extent) const;
  /// Notes that the schedule needs `dim` to be at least `at_least`, or is not one for shorter ones.
  void takes_for_granted(Dim dim, int at_least, int lanes = 1);
};

struct ScheduleTemplate {
  const char* name;
  const char* doc;
  /// Why the template cannot schedule `kernel` (one line, for `explain`); empty when it can.
  std::string (*refuses)(const LoweredKernel& kernel, const DeviceSheet& sheet);
  /// The default parameters, by formula.
  ScheduleParams (*default_params)(const LoweredKernel& kernel, const DeviceSheet& sheet);
  /// All parameter sets worth trying, for the tuner; includes the default.
  std::vector<ScheduleParams> (*candidates)(const LoweredKernel& kernel, const DeviceSheet& sheet);
  /// Schedules all Funcs of `kernel` in place.
  void (*apply)(LoweredKernel& kernel, const ScheduleParams& params, const DeviceSheet& sheet);
  /// The loops that `apply` makes with these parameters, without the kernel: what predictors count. A test
  /// (template_loops_test.cc) counts those of Halide, and lists where the two differ.
  LoopCounts (*loops)(const LoopsOf& of, const ScheduleParams& params);
  /// It computes convolutions by products of transformed tiles (Winograd's algorithm), so that the operations
  /// of the definition are no bound of its time.
  bool transforms_tiles = false;
  /// The default is for those along whose symbolic extents nothing is tiled but vectors.
  UsualExtents usual = {kUsualExtent, 8, 1};
};

/// All templates in order (templates.def): the first that does not refuse is used; the last, "trivial", never
/// refuses.
const std::vector<const ScheduleTemplate*>& schedule_templates();
/// Those of GPUs, in CUDA's order (gpu_templates.def); the last, "gpu_naive", never refuses.
const std::vector<const ScheduleTemplate*>& gpu_templates();
/// Whether kernels of the device are GPU kernels.
bool is_gpu(const DeviceSheet& sheet);
/// The templates of the device.
const std::vector<const ScheduleTemplate*>& templates_of(const DeviceSheet& sheet);
const ScheduleTemplate& find_template(const LoweredKernel& kernel, const DeviceSheet& sheet);

}  // namespace baton
