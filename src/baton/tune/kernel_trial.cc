#include "baton/tune/kernel_trial.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "baton/runtime/baton_backend.h"
#include "baton/runtime/system/timers.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/error.h"

namespace baton {

namespace {

constexpr double kTolerance = 2e-4;  // of the largest element: sums in another order

void call(KernelFunction function, std::span<void*> args) {
  if (const int code = function(args.data()))
    throw Error("a kernel failed with code " + std::to_string(code) + " while it was tuned");
}

const baton_tensor& tensor_of(void* argument) { return *static_cast<const baton_tensor*>(argument); }

size_t bytes_of(const baton_tensor& tensor) {
  size_t count = 1;
  for (int axis = 0; axis < tensor.dimensions; ++axis) count *= static_cast<size_t>(tensor.dim[axis].extent);
  return count * ((tensor.type.bits + 7) / 8);
}

bool near(const std::vector<char>& got, const std::vector<char>& want, const baton_tensor& tensor) {
  if (tensor.type.code != 2 || tensor.type.bits != 32) return got == want;
  const size_t count = want.size() / sizeof(float);
  std::vector<float> a(count), b(count);
  std::memcpy(a.data(), got.data(), want.size());
  std::memcpy(b.data(), want.data(), want.size());
  float largest = 0;
  for (const float value : b)
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  for (size_t i = 0; i < count; ++i) {
    if (std::memcmp(&a[i], &b[i], sizeof(float)) == 0 || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    if (!(std::fabs(a[i] - b[i]) <= kTolerance * largest)) return false;
  }
  return true;
}

}  // namespace

std::vector<Trial> compile_trials(const Function& function, std::span<const KernelSchedule> schedules,
                                  const BuildContext& context) {
  std::vector<KernelRequest> requests;
  for (const KernelSchedule& each : schedules)
    requests.push_back({function, {}, each.template_name, each.params, is_strict(context.passes->config)});
  const auto compiled = [&](std::span<const KernelRequest> some) {
    const std::vector<KernelRef> kernels = compile_kernels(some, context);
    NamedKernels named;
    for (size_t i = 0; i < kernels.size(); ++i) named.emplace_back("t" + std::to_string(i), kernels[i]);
    const auto library = load_library(named, some, context);
    std::vector<Trial> trials;
    for (size_t i = 0; i < some.size(); ++i)
      trials.push_back(
          {{kernels[i]->template_name, kernels[i]->params}, library->find(named[i].first), library});
    return trials;
  };
  try {
    return compiled(requests);
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception&) {  // one of them: the others are tried alone
    std::vector<Trial> trials;
    for (const KernelRequest& request : requests) {
      try {
        for (Trial& trial : compiled({&request, 1})) trials.push_back(std::move(trial));
      } catch (const Interrupted&) {
        throw;
      } catch (const std::exception&) {
      }
    }
    return trials;
  }
}

KernelTrial::KernelTrial(KernelFunction fallback, std::span<void*> args, size_t outputs)
    : default_(fallback), args_(args), outputs_(outputs) {
  call(default_, args_);
  expected_ = this->outputs();
}

std::vector<std::vector<char>> KernelTrial::outputs() const {
  std::vector<std::vector<char>> all;
  for (size_t i = args_.size() - outputs_; i < args_.size(); ++i) {
    const baton_tensor& tensor = tensor_of(args_[i]);
    const auto* begin = reinterpret_cast<const char*>(tensor.host);
    all.emplace_back(begin, begin + bytes_of(tensor));
  }
  return all;
}

bool KernelTrial::agrees(const Trial& trial) const {
  for (size_t i = args_.size() - outputs_; i < args_.size(); ++i) {
    const baton_tensor& tensor = tensor_of(args_[i]);
    std::memset(tensor.host, 0x5A, bytes_of(tensor));  // nothing of the default's is left
  }
  call(trial.function, args_);
  const std::vector<std::vector<char>> got = outputs();
  for (size_t i = 0; i < outputs_; ++i)
    if (!near(got[i], expected_[i], tensor_of(args_[args_.size() - outputs_ + i]))) return false;
  return true;
}

std::vector<Estimate> KernelTrial::measure(std::span<const Trial> trials, const Length& length,
                                           const SystemSource& system) const {
  const ThreadScope scope(length.threads);
  SampleClock clock({.system = system, .core = look_at_core});
  clock.use(length.threads);
  std::vector<KernelFunction> functions = {default_};
  for (const Trial& trial : trials) functions.push_back(trial.function);
  const auto sample = [&](KernelFunction function, int calls) {
    const auto once = [&] { call(function, args_); };
    const auto run = [&] {
      for (int i = 0; i < calls; ++i) once();
      return 0.0;
    };
    // Of a loop the first call, behind another kernel, does not count.
    return clock.take(run, calls, calls > 1 ? once : std::function<void()>());
  };
  call(default_, args_);  // warms up
  const std::optional<Sample> two = sample(default_, 2);
  const int calls = calls_per_sample(two ? two->us : 0);
  std::vector<RoundSamples> samples(functions.size());
  for (RoundSamples& each : samples) clock.windows().track(each.disturbed);
  clock.windows().resume();
  const int64_t begin = monotonic_ns();
  for (int round = 0; round < length.rounds || seconds_since(begin) < length.seconds; ++round)
    for (size_t i = 0; i < functions.size(); ++i) {
      const size_t at = (i + static_cast<size_t>(round)) % functions.size();
      if (const std::optional<Sample> taken = sample(functions[at], calls)) samples[at].add(*taken);
      clock.windows().tick();
    }
  clock.windows().finish();
  std::vector<Estimate> times;
  for (const RoundSamples& each : samples) {
    std::vector<RoundSamples> one{each};
    leave_out_slow(one);
    if (each.us.empty()) throw_clocks_disagree(static_cast<size_t>(length.rounds));
    times.push_back(estimate(one, clock.reason()));
  }
  return times;
}

}  // namespace baton
