#include "baton/driver/vm/background_kernels.h"

#include <algorithm>

#include "baton/codegen/compiler.h"
#include "baton/ir/extents/kernel_extents.h"
#include "baton/runtime/processor.h"

namespace baton {

namespace {

// Extents whose first run is remembered. A program that meets more of them uses none often.
constexpr size_t kRemembered = 4096;

}  // namespace

BackgroundKernels::BackgroundKernels(const BuildResult& built, const BuildContext& context, double after_ms)
    : context_(context),
      after_(
          std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::milli>(after_ms))) {
  context_.progress = {};
  context_.fusion_log = nullptr;
  context_.interrupt = &stop_;
  context_.threads = 1;  // the others are the program's
  for (const vm::KernelName& kernel : built.program->kernels) {
    const auto found = std::ranges::find(built.kernels, kernel.name, &BuiltKernel::func_name);
    const bool is_ours = found != built.kernels.end() && kernel.backend.empty();
    requests_.push_back(is_ours ? std::optional(found->request) : std::nullopt);
    names_.push_back(kernel.name);
  }
}

BackgroundKernels::~BackgroundKernels() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void BackgroundKernels::met(std::span<const vm::ExactCall> calls) {
  std::vector<vm::ExactCall> wanted;
  for (const vm::ExactCall& call : calls)
    if (requests_[call.kernel] && std::ranges::find(wanted, call) == wanted.end()) wanted.push_back(call);
  if (wanted.empty()) return;
  const std::lock_guard lock(mutex_);
  if (first_met_.size() >= kRemembered) first_met_.clear();
  const auto [first, is_new] = first_met_.emplace(wanted, Clock::now());
  if (Clock::now() - first->second < after_) return;
  std::erase_if(wanted, [&](const vm::ExactCall& call) { return !asked_.insert(call).second; });
  if (wanted.empty()) return;
  open_.push_back(std::move(wanted));
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  changed_.notify_all();
}

void BackgroundKernels::work() {
  for (;;) {
    std::vector<vm::ExactCall> calls;
    {
      std::unique_lock lock(mutex_);
      busy_ = false;
      changed_.notify_all();
      changed_.wait(lock, [&] { return stop_ || !open_.empty(); });
      if (stop_) return;
      calls = std::move(open_.front());
      open_.pop_front();
      busy_ = true;
    }
    make(calls);
  }
}

void BackgroundKernels::make(const std::vector<vm::ExactCall>& calls) {
  // All in one library; one that cannot be made does not keep the others from it.
  const std::string why = make_together(calls);
  std::vector<std::string> why_not(calls.size(), why);
  if (!why.empty() && calls.size() > 1)
    for (size_t i = 0; i < calls.size() && !stop_; ++i) why_not[i] = make_together({&calls[i], 1});
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < calls.size(); ++i)
    done_.push_back(
        {names_[calls[i].kernel], {calls[i].extents.begin(), calls[i].extents.end()}, std::move(why_not[i])});
}

/// Why not; empty: they are made.
std::string BackgroundKernels::make_together(std::span<const vm::ExactCall> calls) {
  try {
    std::vector<KernelRequest> requests;
    for (const vm::ExactCall& call : calls) {
      KernelRequest request = *requests_[call.kernel];
      const std::vector<int64_t> numbers(call.extents.begin(), call.extents.end());
      request.function = at_extents(*request.function, numbers);
      request.template_name.clear();  // what is best for these extents
      request.params.clear();
      requests.push_back(std::move(request));
    }
    const std::vector<KernelRef> kernels = compile_kernels(requests, context_);
    NamedKernels named;
    for (const KernelRef& kernel : kernels)
      named.emplace_back("exact_" + std::to_string(named.size()), kernel);
    const auto module = processor_module(load_library(named, requests, context_));
    std::vector<std::pair<vm::ExactCall, Made>> made;
    for (size_t i = 0; i < calls.size(); ++i) made.push_back({calls[i], {module, named[i].first}});
    add(made);
    return {};
  } catch (const std::exception& why) {
    return why.what();
  }
}

std::vector<BackgroundKernels::Specialized> BackgroundKernels::specialized() const {
  const std::lock_guard lock(mutex_);
  return done_;
}

bool BackgroundKernels::wait(double seconds) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                           [&] { return open_.empty() && !busy_; });
}

}  // namespace baton
