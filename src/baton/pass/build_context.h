#pragma once
// BuildContext: everything that a build is told, in one value that is handed from the door (a verb of the
// command line, Python, a test) down through passes, code generation, interpreters and measuring. Nothing
// below the door is thread-local or looks at the host by itself: two threads that build under two contexts
// get what each of them asked for.
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
  /// Level, required and disabled passes, instruments, config, evaluator. Never null.
  PassContextRef passes = std::make_shared<PassContext>();

  /// What was asked for, in order of preference; empty: nothing (kernels are made for the first sheet).
  std::vector<TargetRef> targets = {};
  /// The devices that there are; the first is the host's. A build needs at least that one.
  std::vector<DeviceSheet> sheets = {};

  RequantizeConfig requantize = {};                    ///< of qnn operators that leave it open
  std::shared_ptr<SkippedLayers> skipped_layers = {};  ///< of ConvertLayout; null: none
  FusionLog* fusion_log = nullptr;                     ///< FuseOps notes its reasons there
  std::shared_ptr<const KernelChoice> choice =
      {};  ///< of algorithms, layouts, schedules; null: the cost model's

  KernelCache* cache = nullptr;  ///< of compiled kernels; null: KernelCache::shared()
  int threads = 0;               ///< for compiling; 0: one per processor
  /// "optimize", "kernels", "link": done of total. May come from another thread, one at a time.
  std::function<void(const std::string& phase, int done, int total)> progress = {};
  const std::atomic<bool>* interrupt = nullptr;  ///< true: Interrupted is thrown

  /// The first target, or null.
  const Target* target() const { return targets.empty() ? nullptr : targets.front().get(); }
  /// The sheet of the host. InternalError when there is none.
  const DeviceSheet& host() const;
  /// The sheet of the device that the first target is of; the host's without targets, and for those that no
  /// device here runs.
  const DeviceSheet& device() const;
  /// The sheet of the device that runs code of that kind of target; null when there is none.
  const DeviceSheet* sheet_of(std::string_view kind) const;

  /// Throws Interrupted when that was asked for.
  void stop_if_asked() const;

  /// The same build with another level, or without the user's instruments.
  BuildContext at_level(int opt_level) const;
  BuildContext with_passes(PassContextRef other) const;

  /// A pass that only asks for options is given these.
  operator const PassContext&() const { return *passes; }
};

}  // namespace baton
