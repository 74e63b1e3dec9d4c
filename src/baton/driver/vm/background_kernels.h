#pragma once
// Compiles the kernels of a program for the extents that its runs meet often, on a thread of its own.
#include <chrono>
#include <condition_variable>
#include <deque>
#include <optional>
#include <set>
#include <thread>

#include "baton/driver/build_result.h"
#include "baton/pass/build_context.h"
#include "baton/runtime/vm/exact_kernels.h"

namespace baton {

class BackgroundKernels final : public vm::ExactKernels {
 public:
  /// `built`: a result of build_program(). `after_ms`: how long after the first run at some extents they have
  /// to be still in use for their kernels to be compiled.
  BackgroundKernels(const BuildResult& built, const BuildContext& context, double after_ms);
  /// Waits for nothing but the kernel that is being compiled.
  ~BackgroundKernels() override;

  void met(std::span<const vm::ExactCall> calls) override;

  /// A kernel that was asked for.
  struct Specialized {
    std::string kernel;
    std::vector<int64_t> extents;
    std::string why_not;  ///< why there is none; empty: it is used
  };
  std::vector<Specialized> specialized() const;
  /// Waits until all that was asked for is compiled; false if that takes longer than `seconds`.
  bool wait(double seconds) const;

 private:
  using Clock = std::chrono::steady_clock;
  void work();
  void make(const std::vector<vm::ExactCall>& calls);
  std::string make_together(std::span<const vm::ExactCall> calls);

  /// By Program::kernels; none: of another backend.
  std::vector<std::optional<KernelRequest>> requests_;
  std::vector<std::string> names_;
  BuildContext context_;
  const Clock::duration after_;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::map<std::vector<vm::ExactCall>, Clock::time_point> first_met_;
  std::set<vm::ExactCall> asked_;
  std::deque<std::vector<vm::ExactCall>> open_;
  std::vector<Specialized> done_;
  bool busy_ = false;
  std::atomic<bool> stop_{false};
  std::thread thread_;  // last: it uses the others
};

}  // namespace baton
