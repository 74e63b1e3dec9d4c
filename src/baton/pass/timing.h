#pragma once
// How long each pass took, as a tree.
#include "baton/pass/pass.h"

namespace baton {

/// Times passes of the contexts it is in. The tree belongs to the thread and lives until the context is left.
class PassTimingInstrument final : public PassInstrument {
 public:
  std::string name() const override { return "PassTimingInstrument"; }
  void exit_pass_ctx() override;
  void run_before_pass(const IRModule& module, const PassInfo& info) override;
  void run_after_pass(const IRModule& module, const PassInfo& info) override;

  /// One line per pass, children one tab deeper: `name: total us [self us] (% of all; % of the parent)`.
  /// Empty, with a warning, when nothing was timed; Error inside a pass.
  static std::string render();
};

}  // namespace baton
