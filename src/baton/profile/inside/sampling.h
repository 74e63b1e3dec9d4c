#pragma once
// Attributes the time of unmarked kernels by sampling (design D4, method C): a timer interrupts the threads
// that run kernels and records the program counter, which the code map maps to stages and operators. Needs no
// rebuild; costs one signal per sample.
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "baton/codegen/kernel/kernel.h"
#include "baton/driver/build_result.h"
#include "baton/runtime/executor.h"
#include "baton/runtime/kernel_library.h"

namespace baton {

struct SampleOptions {
  /// `context`: that of the build, for the code maps. Its interrupt also ends the sampling.
  explicit SampleOptions(BuildContext context) : compile(std::move(context)) {}

  int hz = 1000;       ///< samples per second and thread
  double seconds = 1;  ///< sampling time
  BuildContext compile;
};

/// Samples in one stage of a kernel.
struct SampledStage {
  std::string stage;        ///< empty: code outside all stages, such as entry and exit
  int block = -1;           ///< the stage's block, an index into kernel_blocks(function); -1: none
  std::vector<int> blocks;  ///< all operators computed in it, including inlined ones
  uint64_t samples = 0;
  std::vector<HeldStage> holds;  ///< stages that share basic blocks with it and cannot be separated
};

/// Samples per basic block of a kernel, for listings.
struct SampledRange {
  std::string symbol;
  uint32_t begin = 0;
  uint64_t samples = 0;
};

struct SampleCounts {
  std::vector<SampledStage>
      stages;  ///< all stages of the kernel in the order of their operators, even without samples
  std::vector<SampledRange> ranges;  ///< only those with samples
  uint64_t in_kernel = 0;            ///< the sum of `stages`: in the kernel, or in its callees (memset, pow)
  uint64_t outside = 0;              ///< on the calling thread outside kernels: thread pool, allocator, loop
  uint64_t idle = 0;                 ///< on idle threads of the pool
  uint64_t runs = 0;                 ///< kernel calls during sampling

  /// The fraction of the kernel's time.
  double share(const SampledStage& stage) const {
    return in_kernel ? static_cast<double>(stage.samples) / static_cast<double>(in_kernel) : 0;
  }
};

/// Samples a kernel of `library`, called in a loop on the number of threads of the caller's ThreadScope.
/// `kernel`: compiled from `request`; any variant. kUnavailable, with the reason, without `as`, for JIT
/// kernels, when no signal is free, and on systems other than Linux on x86-64. Throws Error when the kernel
/// fails, Interrupted.
Result<SampleCounts> sample_kernel(const KernelRequest& request, const Kernel& kernel,
                                   const KernelLibrary& library, std::span<void*> args,
                                   const SampleOptions& options);

/// One kernel of a model; several nodes and names may share it.
struct SampledKernel {
  std::vector<std::string> func_names;
  SampleCounts counts;  ///< `outside`, `idle` and `runs` are those of the model
};

struct ModelSamples {
  std::vector<SampledKernel> kernels;  ///< in plan order
  uint64_t in_kernels = 0, outside = 0, idle = 0, runs = 0;
  double plain_us = 0,
         sampled_us = 0;  ///< median time of a run without and with sampling, in alternating turns
  double overhead =
      0;  ///< median over pairs of adjacent turns of the added time, as a fraction of a plain run
};

/// Samples the model as it ships; half of the time without sampling, to measure the overhead. `run`: runs it
/// once, on `threads` threads, or throws. Results and errors as sample_kernel.
Result<ModelSamples> sample_model(const BuildResult& built, const std::function<void()>& run, int threads,
                                  const SampleOptions& options);
/// The same of a plan. `executor`: made from `built`, inputs and threads set.
Result<ModelSamples> sample_model(const BuildResult& built, Executor& executor, const SampleOptions& options);

}  // namespace baton
