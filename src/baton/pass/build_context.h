#pragma once
// BuildContext: all inputs of a build, passed explicitly from the entry point (a CLI verb, Python, a test)
// down through passes, code generation, interpreters and measurement. Nothing below the entry point is
// thread-local or inspects the host, so threads can build concurrently under different contexts.
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "baton/ir/rules/legalize_rule.h"
#include "baton/pass/pass_context.h"
#include "baton/target/device_sheet.h"
#include "baton/target/target.h"

namespace baton {

class FusionLog;       // transform/fuse/fuse_ops.h
class KernelCache;     // codegen/kernel/kernel_cache.h
class KernelChoice;    // schedule/kernel_choice.h
struct SkippedLayers;  // transform/layout/skipped_layers.h

struct BuildContext {
  /// Level, required and disabled passes, instruments, config, evaluator. Not null.
  PassContextRef passes = std::make_shared<PassContext>();

  /// The requested targets in order of preference; empty: none requested (kernels are compiled for the first
  /// sheet).
  std::vector<TargetRef> targets = {};
  /// The available devices; the first is the host. A build requires at least one.
  std::vector<DeviceSheet> sheets = {};

  /// Passes must not change the value of an operation on floats (a build); otherwise they give the form that
  /// TVM's give, which may round otherwise, overflow otherwise, or lose the sign of a zero (a pass by
  /// itself).
  bool exact_floats = false;

  RequantizeConfig requantize = {};                    ///< for qnn operators that leave it unspecified
  std::shared_ptr<SkippedLayers> skipped_layers = {};  ///< of ConvertLayout; null: none
  FusionLog* fusion_log = nullptr;                     ///< FuseOps records its reasons here
  std::shared_ptr<const KernelChoice> choice =
      {};  ///< chooses algorithms, layouts and schedules; null: the cost model does

  KernelCache* cache = nullptr;  ///< the cache of compiled kernels; null: KernelCache::shared()
  int threads = 0;               ///< compile threads; 0: one per processor
  /// Phases "optimize", "kernels", "link"; `done` of `total`. May be called from other threads, never
  /// concurrently.
  std::function<void(const std::string& phase, int done, int total)> progress = {};
  const std::atomic<bool>* interrupt = nullptr;  ///< when true, Interrupted is thrown

  /// The first target, or null.
  const Target* target() const { return targets.empty() ? nullptr : targets.front().get(); }
  /// The sheet of the host. InternalError when there are no sheets.
  const DeviceSheet& host() const;
  /// The sheet of the first target's device; the host's when there are no targets, or when no available
  /// device runs it.
  const DeviceSheet& device() const;
  /// The sheet of the device that runs code of this target kind; null when there is none.
  const DeviceSheet* sheet_of(std::string_view kind) const;

  /// Throws Interrupted when `*interrupt` is true.
  void stop_if_asked() const;

  /// A copy with another level, or without the user's instruments.
  BuildContext at_level(int opt_level) const;
  BuildContext with_passes(PassContextRef other) const;

  /// Implicit conversion for functions that only read pass options.
  operator const PassContext&() const { return *passes; }
};

}  // namespace baton
