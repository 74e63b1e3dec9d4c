#pragma once
// Tracing: what each pass did with the operators of a program, and why.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "baton/pass/pass.h"

namespace baton {

/// One change by a pass: nodes `before` were replaced by nodes `after`. Nodes are operator calls, fused
/// functions, and constants with origins.
struct OriginChange {
  enum class Kind {
    kMade,     ///< recomputed by other nodes
    kMerged,   ///< one node now has several origins
    kSplit,    ///< several nodes now share one origin
    kAdded,    ///< added by the compiler, with these causes
    kRemoved,  ///< a compiler-added node is removed, or one of several nodes of an operator
    kRetired,  ///< no node carries the origin any more
  };
  Kind kind;
  std::vector<Ref<const Origin>> origins;  ///< ascending; for kAdded the causes
  std::vector<std::string> before, after;  ///< each node's operator, or "fn[nn.conv2d, nn.relu]", "constant"
  std::string reason;                      ///< for kAdded and kRetired
};

/// One pass that ran.
struct PassStep {
  std::string pass;
  int depth = 0;                          ///< nesting: 0 for passes run by the user
  double seconds = 0;                     ///< inclusive of nested passes, without tracing
  int calls_before = 0, calls_after = 0;  ///< operator calls in the module
  std::vector<OriginChange> changes;      ///< its own, without those of nested passes
};

/// Compares the module before and after each pass. Costs time linear in the module per pass.
class PassTrace final : public PassInstrument {
 public:
  PassTrace();
  ~PassTrace() override;
  std::string name() const override { return "PassTrace"; }
  void exit_pass_ctx() override;  // also closes passes that threw
  void run_before_pass(const IRModule& module, const PassInfo& info) override;
  void run_after_pass(const IRModule& module, const PassInfo& info) override;

  /// In the order in which the passes started.
  const std::vector<PassStep>& steps() const { return steps_; }

 private:
  struct View;
  void look(const IRModule& module);  // changes since the last snapshot are attributed to the innermost pass
  std::vector<PassStep> steps_;
  std::vector<size_t> open_;
  std::vector<std::chrono::steady_clock::time_point> started_;
  std::unique_ptr<View> last_;
};

/// One line per change: `merged   %3 nn.conv2d, %4 nn.bias_add: nn.conv2d, nn.bias_add -> fn[nn.conv2d,
/// nn.bias_add]`.
std::string change_text(const OriginChange& change);

/// The steps with changes (all steps with `all`), each with its changes; one line per pass, indented by two
/// spaces per depth.
std::string trace_text(const std::vector<PassStep>& steps, bool all = false);

}  // namespace baton
