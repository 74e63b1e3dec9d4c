#include "baton/profile/inside/sampling.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "baton/codegen/code_maps.h"
#include "baton/profile/inside/pc_sampler.h"
#include "baton/profile/measure/measure.h"
#include "baton/runtime/system/timers.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/error.h"
#include "baton/support/interrupt.h"
#include "baton/support/require.h"

namespace baton {

namespace {

constexpr int64_t kTurnNs =
    60'000'000;  // length of the alternating turns with and without sampling, at least one run each

void check_interrupt(const SampleOptions& options) {
  if (options.compile.interrupt && *options.compile.interrupt)
    throw Interrupted("interrupted while sampling; nothing was written");
}

/// A loaded kernel: its code map, and the address of each function.
struct LoadedCode {
  CodeMap map;
  std::vector<uintptr_t> addresses;  ///< as map.functions
};

Result<LoadedCode> locate(CodeMap map, const KernelLibrary& library) {
  LoadedCode code{std::move(map), {}};
  for (const CodeFunction& function : code.map.functions) {
    const auto address = reinterpret_cast<uintptr_t>(library.symbol(function.symbol));
    if (!address)
      return Status::unavailable(
          "kernels that were made in memory by Halide's JIT, without a linker, cannot be sampled: install "
          "binutils");
    code.addresses.push_back(address);
  }
  return code;
}

struct Bounds {
  uintptr_t begin = UINTPTR_MAX, end = 0;
  void add(const LoadedCode& code) {
    for (size_t i = 0; i < code.addresses.size(); ++i) {
      begin = std::min(begin, code.addresses[i]);
      end = std::max(end, code.addresses[i] + code.map.functions[i].bytes);
    }
  }
};

void add_blocks(std::vector<int>& blocks, const std::vector<int>& more) {
  blocks.insert(blocks.end(), more.begin(), more.end());
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
}

SampledStage& stage_for(SampleCounts& counts, const CodePlace& place) {
  auto at = std::find_if(counts.stages.begin(), counts.stages.end(), [&](const SampledStage& stage) {
    return stage.block == place.block && stage.stage == place.stage;
  });
  if (at == counts.stages.end()) at = counts.stages.insert(at, {place.stage, place.block, {}, 0, {}});
  add_blocks(at->blocks, place.blocks);
  for (const HeldStage& held : place.holds)
    if (std::find(at->holds.begin(), at->holds.end(), held) == at->holds.end()) at->holds.push_back(held);
  return *at;
}

/// The sample counts of one kernel.
SampleCounts counts_of(const LoadedCode& code, const PcCounts& pcs) {
  SampleCounts counts;
  for (const CodePlace& place : code.map.places) stage_for(counts, place);
  for (size_t f = 0; f < code.addresses.size(); ++f) {
    const CodeFunction& function = code.map.functions[f];
    const uintptr_t first = code.addresses[f] - pcs.begin;
    for (const CodeRange& range : function.ranges) {
      uint64_t samples = 0;
      for (uintptr_t i = first + range.begin; i < first + range.end; ++i)
        samples += pcs.at[i] + pcs.called[i];
      if (samples == 0) continue;
      counts.ranges.push_back({function.symbol, range.begin, samples});
      stage_for(counts, code.map.places[static_cast<size_t>(range.place)]).samples += samples;
      counts.in_kernel += samples;
    }
  }
  std::stable_sort(counts.stages.begin(), counts.stages.end(),
                   [](const SampledStage& a, const SampledStage& b) {
                     return static_cast<unsigned>(a.block) < static_cast<unsigned>(b.block);  // -1 sorts last
                   });
  return counts;
}

uint64_t sum(const std::vector<uint32_t>& counts) {
  uint64_t total = 0;
  for (const uint32_t count : counts) total += count;
  return total;
}

/// Runs for kTurnNs, at least once; returns the microseconds of each run.
std::vector<double> turn(const std::function<void()>& run, const SampleOptions& options) {
  std::vector<double> times;
  const int64_t start = monotonic_ns();
  do {
    check_interrupt(options);
    const int64_t before = monotonic_ns();
    run();
    times.push_back(static_cast<double>(monotonic_ns() - before) / 1e3);
  } while (monotonic_ns() - start < kTurnNs);
  return times;
}

/// Alternates turns without and with sampling, until the latter add up to the requested time.
Status run_in_turns(const std::function<void()>& run, bool pool, PcSampler& sampler,
                    const SampleOptions& options, ModelSamples& samples) {
  std::vector<double> plain, sampled, quotients;
  double seconds = 0;
  turn(run, options);  // warms up caches and clock frequency
  while (seconds < options.seconds || quotients.size() < 3) {
    const std::vector<double> without = turn(run, options);
    if (Status status = sampler.start(pool); !status.ok()) return status;
    const int64_t start = monotonic_ns();
    const std::vector<double> with = turn(run, options);
    sampler.stop();
    seconds += static_cast<double>(monotonic_ns() - start) / 1e9;
    quotients.push_back(median(with) / median(without));
    plain.insert(plain.end(), without.begin(), without.end());
    sampled.insert(sampled.end(), with.begin(), with.end());
  }
  samples.runs = sampled.size();
  samples.plain_us = median(plain);
  samples.sampled_us = median(sampled);
  samples.overhead = median(quotients) - 1;
  return Status::success();
}

}  // namespace

Result<SampleCounts> sample_kernel(const KernelRequest& request, const Kernel& kernel,
                                   const KernelLibrary& library, std::span<void*> args,
                                   const SampleOptions& options) {
  const auto function = reinterpret_cast<KernelFunction>(library.symbol(kernel.symbol + "_argv"));
  Result<CodeMap> map = code_map(request, kernel, options.compile.host(), options.compile.cache);
  if (!map.ok()) return map.status();
  Result<LoadedCode> code = locate(std::move(*map), library);
  if (!code.ok()) return code.status();
  Bounds bounds;
  bounds.add(*code);
  const auto call = [&] {
    if (const int failed = function(args.data()))
      throw Error(kernel.symbol + " failed with code " + std::to_string(failed) + " while it was sampled");
  };
  call();  // starts the threads it runs on
  Result<std::unique_ptr<PcSampler>> sampler = PcSampler::create(bounds.begin, bounds.end, options.hz);
  if (!sampler.ok()) return sampler.status();
  if (Status status = (*sampler)->start(current_threads() > 1); !status.ok()) return status;
  uint64_t runs = 0;
  const int64_t start = monotonic_ns();
  do {
    check_interrupt(options);
    call();
    ++runs;
  } while (static_cast<double>(monotonic_ns() - start) < options.seconds * 1e9);
  (*sampler)->stop();
  const PcCounts pcs = (*sampler)->counts();
  SampleCounts counts = counts_of(*code, pcs);
  // Code between this kernel's functions is not part of it: the loop here, or other kernels of the library.
  counts.outside = pcs.outside + sum(pcs.at) + sum(pcs.called) - counts.in_kernel;
  counts.idle = pcs.idle;
  counts.runs = runs;
  return counts;
}

Result<ModelSamples> sample_model(const BuildResult& built, const std::function<void()>& run, int threads,
                                  const SampleOptions& options) {
  std::vector<KernelRequest> requests;
  std::vector<KernelRef> kernels;
  ModelSamples samples;
  for (const BuiltKernel& each : built.kernels) {
    if (!built.plan.graph->nodes[each.first_node].backend.empty()) continue;  // not a CPU kernel
    const auto known = std::find_if(kernels.begin(), kernels.end(),
                                    [&](const KernelRef& k) { return k->key == each.kernel->key; });
    const auto index = static_cast<size_t>(known - kernels.begin());
    if (known == kernels.end()) {
      requests.push_back(each.request);
      kernels.push_back(each.kernel);
      samples.kernels.emplace_back();
    }
    samples.kernels[index].func_names.push_back(each.func_name);
  }
  if (kernels.empty()) return Status::unavailable("a model without kernels cannot be sampled");
  Result<std::vector<CodeMap>> maps = code_maps(requests, kernels, options.compile);
  if (!maps.ok()) return maps.status();
  std::vector<LoadedCode> codes;
  Bounds bounds;
  for (CodeMap& map : *maps) {
    Result<LoadedCode> code = locate(std::move(map), *built.host_code().library);
    if (!code.ok()) return code.status();
    bounds.add(*code);
    codes.push_back(std::move(*code));
  }
  Result<std::unique_ptr<PcSampler>> sampler = PcSampler::create(bounds.begin, bounds.end, options.hz);
  if (!sampler.ok()) return sampler.status();
  if (Status status = run_in_turns(run, threads > 1, **sampler, options, samples); !status.ok())
    return status;
  const PcCounts pcs = (*sampler)->counts();
  for (size_t i = 0; i < codes.size(); ++i) {
    samples.kernels[i].counts = counts_of(codes[i], pcs);
    samples.in_kernels += samples.kernels[i].counts.in_kernel;
  }
  samples.outside = pcs.outside + sum(pcs.at) + sum(pcs.called) - samples.in_kernels;
  samples.idle = pcs.idle;
  for (SampledKernel& kernel : samples.kernels) {
    kernel.counts.outside = samples.outside;
    kernel.counts.idle = samples.idle;
    kernel.counts.runs = samples.runs;
  }
  return samples;
}

Result<ModelSamples> sample_model(const BuildResult& built, Executor& executor,
                                  const SampleOptions& options) {
  return sample_model(built, [&] { require(executor.run()); }, executor.threads(), options);
}

}  // namespace baton
