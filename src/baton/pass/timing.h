#pragma once
// Pass timing as a tree.
#include "baton/pass/pass.h"

namespace baton {

/// Times the passes run under a context. Keeps one tree per thread, until the thread exits the context.
class PassTimingInstrument final : public PassInstrument {
 public:
  PassTimingInstrument();
  ~PassTimingInstrument() override;
  std::string name() const override { return "PassTimingInstrument"; }
  void exit_pass_ctx() override;
  void run_before_pass(const IRModule& module, const PassInfo& info) override;
  void run_after_pass(const IRModule& module, const PassInfo& info) override;

  /// One line per pass, children one tab deeper: `name: total us [self us] (% of all; % of the parent)`.
  /// Covers this thread's passes. Empty, with a warning, when nothing was timed; throws Error inside a pass.
  std::string render() const;

 private:
  struct Tree;
  Tree& tree() const;
  struct Trees;
  std::unique_ptr<Trees> trees_;
};

}  // namespace baton
