#include "baton/profile/inside/inside_sampled.h"

#include <algorithm>

#include "baton/profile/inside/sampling.h"

namespace baton {

namespace {

// A signal costs some 20 us; shares remain valid, since all stages are interrupted alike.
constexpr int kHz = 12'000;
// Ensures some hundred samples in each round, however short the marker measurement is.
constexpr double kTimes = 4, kLeastMs = 67;
// Fewer samples give no usable shares.
constexpr uint64_t kEnoughSamples = 200;

}  // namespace

std::optional<std::vector<SampledShare>> sampled_shares(const Variant& plain, std::span<void*> args,
                                                        double ms, const BuildContext& context,
                                                        std::string& why) {
  SampleOptions sample(context);
  sample.hz = kHz;
  sample.seconds = std::max(kTimes * ms, kLeastMs) / 1e3;
  sample.compile.progress = nullptr;
  const Result<SampleCounts> counts =
      sample_kernel(plain.request, *plain.kernel, *plain.library, args, sample);
  if (!counts.ok()) {
    why = counts.status().message;
    return {};
  }
  if (counts->in_kernel < kEnoughSamples) {
    why = "only " + std::to_string(counts->in_kernel) + " samples fell into the kernel";
    return {};
  }
  std::vector<SampledShare> shares;
  for (const SampledStage& stage : counts->stages)
    if (stage.samples > 0) shares.push_back({stage.stage, stage.block, counts->share(stage), stage.holds});
  return shares;
}

}  // namespace baton
