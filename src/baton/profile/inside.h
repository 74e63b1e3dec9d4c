#pragma once
// The split of one kernel's time over its operators (design D4): stage markers for what has storage or a loop of its
// own, ablation for operators fused in registers. The shipped kernel is never the one that is changed.
#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "baton/driver/build.h"
#include "baton/runtime/executor.h"

namespace baton {

enum class InsideMethod { kWhole, kMarkers, kAblation };
const char* method_name(InsideMethod method);  ///< "whole", "markers", "ablation"

/// One part of a kernel's time.
struct InsidePart {
  int block = -1;     ///< index into kernel_blocks(function); -1: load, store and loop control
  std::string stage;  ///< "pad", "conv2d", ...; for ablation, and for the rest: the stage that it is a part of
  double share = 0;   ///< of the plain kernel's time
  InsideMethod method = InsideMethod::kMarkers;
  bool below_noise = false;  ///< ablation saw less than two equal builds differ by: share is 0
};

struct InsideTimes {
  std::vector<InsidePart> parts;
  double plain_us = 0;     ///< the kernel alone, warm: the lowest of all rounds
  double stage_sum = 1;    ///< what the stages sum up to, of plain_us, before anything is scaled
  double noise = 0;        ///< of ablation: how far two equal builds differ, of plain_us
  double marker_ns = 0;    ///< the empty interval between two marks
  double overhead = 0;     ///< the marked kernel's time / plain_us - 1
  std::vector<std::string> merged;  ///< stages too short to be marked; their time is in what encloses them
  /// The stages sum up to 97-103 % of the plain kernel; else the shares are an estimate and shown as such.
  bool trusted() const { return stage_sum >= 0.97 && stage_sum <= 1.03; }
};

struct InsideOptions {
  double ms_per_kernel = 300;  ///< measuring, all variants together
  CompileOptions compile;
  std::function<void(int done, int total)> progress;  ///< kernels measured
};

/// By func_name, for every kernel of `built` that is called. `executor`: made from `built`, inputs set, threads set;
/// its kernels and constants are as before when this returns, intermediate tensors are not.
std::map<std::string, InsideTimes> measure_inside(const BuildResult& built, Executor& executor, const InsideOptions& options);

}  // namespace baton
