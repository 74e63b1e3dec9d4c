// Kernels for certain extents in the place of those for any, made while a program runs by whoever can.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "baton/runtime/plugin.h"

namespace baton::vm {

/// A kernel of a program, at numbers for its symbolic extents.
struct ExactCall {
  uint32_t kernel = 0;  ///< Program::kernels
  std::vector<int32_t> extents = {};
  auto operator<=>(const ExactCall&) const = default;
};

/// What all machines of a program share. Thread safe. Its virtual functions are inline: see FunctionValue.
class ExactKernels {
 public:
  virtual ~ExactKernels() = default;

  /// A piece ran 1, 2, 4, 8, ... times with the same extents. `calls`: of its kernels that have symbolic
  /// ones.
  virtual void met(std::span<const ExactCall> calls) = 0;

  /// A kernel with the arguments of the one that it replaces, less the extents.
  struct Made {
    std::shared_ptr<const PluginModule> module;  ///< null: there is none
    std::string symbol;
  };
  Made find(const ExactCall& call) const {
    const std::lock_guard lock(mutex_);
    const auto at = made_.find(call);
    return at == made_.end() ? Made{} : at->second;
  }
  /// Changes with each add(): machines then look again.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

 protected:
  void add(const std::vector<std::pair<ExactCall, Made>>& kernels) {
    const std::lock_guard lock(mutex_);
    made_.insert(kernels.begin(), kernels.end());
    generation_.fetch_add(1, std::memory_order_release);
  }

 private:
  mutable std::mutex mutex_;
  std::map<ExactCall, Made> made_;
  std::atomic<uint64_t> generation_{1};
};

}  // namespace baton::vm
