#pragma once
// How long each pass took, as a tree.
#include "baton/pass/pass.h"

namespace baton {

/// Times passes of the contexts it is in. It has a tree for each thread that runs passes under it, until the
/// thread leaves the context.
class PassTimingInstrument final : public PassInstrument {
 public:
  PassTimingInstrument();
  ~PassTimingInstrument() override;
  std::string name() const override { return "PassTimingInstrument"; }
  void exit_pass_ctx() override;
  void run_before_pass(const IRModule& module, const PassInfo& info) override;
  void run_after_pass(const IRModule& module, const PassInfo& info) override;

  /// One line per pass, children one tab deeper: `name: total us [self us] (% of all; % of the parent)`.
  /// Of this thread's passes. Empty, with a warning, when nothing was timed; Error inside a pass.
  std::string render() const;

 private:
  struct Tree;
  Tree& tree() const;
  struct Trees;
  std::unique_ptr<Trees> trees_;
};

}  // namespace baton
