#pragma once
// What every pass did with the operators of a program: where each one went, and why.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "baton/pass/pass.h"

namespace baton {

/// One change of a pass: the nodes `before` gave way to the nodes `after`. Nodes are calls of operators,
/// fused functions, and constants that stand for operators.
struct OriginChange {
  enum class Kind {
    kMade,     ///< other nodes compute the same operator
    kMerged,   ///< one node stands for several operators now
    kSplit,    ///< several nodes stand for one operator now
    kAdded,    ///< the compiler's own, made for these operators
    kRemoved,  ///< what the compiler had added is gone again, or one of several nodes of an operator
    kRetired,  ///< no node stands for the operator any more
  };
  Kind kind;
  std::vector<Ref<const Origin>> origins;  ///< ascending; for kAdded those it was made for
  std::vector<std::string> before, after;  ///< each node's operator, or "fn[nn.conv2d, nn.relu]", "constant"
  std::string reason;                      ///< for kAdded and kRetired
};

/// One pass that ran.
struct PassStep {
  std::string pass;
  int depth = 0;                          ///< 0: run by the user; 1: by such a pass; ...
  double seconds = 0;                     ///< with the passes inside, without the tracing
  int calls_before = 0, calls_after = 0;  ///< calls of operators in the module
  std::vector<OriginChange> changes;      ///< of its own; those of the passes inside are theirs
};

/// Looks at the module before and after each pass. Costs time linear in the module per pass.
class PassTrace final : public PassInstrument {
 public:
  PassTrace();
  ~PassTrace() override;
  std::string name() const override { return "PassTrace"; }
  void exit_pass_ctx() override;  // also of a pass that threw
  void run_before_pass(const IRModule& module, const PassInfo& info) override;
  void run_after_pass(const IRModule& module, const PassInfo& info) override;

  /// In the order in which the passes began.
  const std::vector<PassStep>& steps() const { return steps_; }

 private:
  struct View;
  void look(const IRModule& module);  // what changed since last time is the innermost pass's
  std::vector<PassStep> steps_;
  std::vector<size_t> open_;
  std::vector<std::chrono::steady_clock::time_point> started_;
  std::unique_ptr<View> last_;
};

/// One line per change: `merged   %3 nn.conv2d, %4 nn.bias_add: nn.conv2d, nn.bias_add -> fn[nn.conv2d,
/// nn.bias_add]`.
std::string change_text(const OriginChange& change);

/// The steps that changed something (all with `all`), each with its changes; a line per pass, two blanks per
/// depth.
std::string trace_text(const std::vector<PassStep>& steps, bool all = false);

}  // namespace baton
