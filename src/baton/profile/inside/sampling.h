#pragma once
// Where the time of unmarked kernels goes, by sampling (design D4, method C): a timer interrupts the threads
// that run kernels and notes the program counter, which the code map leads back to stages and operators. No
// rebuild, no change to what runs; the price is one signal per sample.
#include <atomic>
#include <cstdint>
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
  double seconds = 1;  ///< of sampling
  BuildContext compile;
};

/// Samples in one stage of a kernel.
struct SampledStage {
  std::string stage;        ///< empty: entry, exit and what else belongs to no stage
  int block = -1;           ///< whose stage it is: index into kernel_blocks(function), -1: none's
  std::vector<int> blocks;  ///< all operators computed in it, those inlined into it too
  uint64_t samples = 0;
  std::vector<HeldStage>
      holds;  ///< stages whose code cannot be told from this one's: they share basic blocks
};

/// Samples per basic block of a kernel: for listings.
struct SampledRange {
  std::string symbol;
  uint32_t begin = 0;
  uint64_t samples = 0;
};

struct SampleCounts {
  std::vector<SampledStage>
      stages;  ///< those of the kernel, with samples or without, in the order of their operators
  std::vector<SampledRange> ranges;  ///< those with samples
  uint64_t in_kernel = 0;  ///< the sum of `stages`: in the kernel, or in what it calls (memset, pow)
  uint64_t outside = 0;    ///< on the calling thread, in no kernel: thread pool, allocator, loop around
  uint64_t idle = 0;       ///< on threads of the pool that had no work
  uint64_t runs = 0;       ///< calls of the kernel while sampled

  /// Of the kernel's time.
  double share(const SampledStage& stage) const {
    return in_kernel ? static_cast<double>(stage.samples) / static_cast<double>(in_kernel) : 0;
  }
};

/// Calls a kernel of `library` in a loop, on as many threads as the caller's ThreadScope says, and samples
/// it. `kernel`: compiled from `request`; any variant. kUnavailable where this cannot be done, with the
/// reason: no `as`, kernels from Halide's JIT, no free signal, another system than Linux on x86-64. Throws
/// Error when the kernel fails, Interrupted.
Result<SampleCounts> sample_kernel(const KernelRequest& request, const Kernel& kernel,
                                   const KernelLibrary& library, std::span<void*> args,
                                   const SampleOptions& options);

/// One kernel of a model. Several nodes, even several names, may share it.
struct SampledKernel {
  std::vector<std::string> func_names;
  SampleCounts counts;  ///< `outside`, `idle` and `runs` are those of the model
};

struct ModelSamples {
  std::vector<SampledKernel> kernels;  ///< in the order of the plan
  uint64_t in_kernels = 0, outside = 0, idle = 0, runs = 0;
  double plain_us = 0, sampled_us = 0;  ///< medians of a run without and with sampling; both took turns
  double overhead = 0;  ///< median over pairs of neighbouring turns of what sampling adds, of a plain run
};

/// Runs the model as it ships and samples it; half of the time without sampling, to say what it costs.
/// `executor`: made from `built`, inputs and threads set. Results and errors as sample_kernel.
Result<ModelSamples> sample_model(const BuildResult& built, Executor& executor, const SampleOptions& options);

}  // namespace baton
