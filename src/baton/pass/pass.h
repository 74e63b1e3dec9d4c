#pragma once
// Passes: names, gating and callback order as in TVM 0.11.1 (differences: docs/compatibility.md).
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "baton/ir/module.h"
#include "baton/pass/build_context.h"
#include "baton/pass/config.h"
#include "baton/pass/pass_args.h"

namespace baton {

class PassNode;
using Pass = std::shared_ptr<const PassNode>;

class PassNode {
 public:
  enum class Kind { kModule, kFunction, kSequential };
  PassNode(PassInfo info, bool may_retire) : info_(std::move(info)), may_retire_(may_retire) {}
  virtual ~PassNode() = default;
  const PassInfo& info() const { return info_; }
  bool may_retire() const { return may_retire_; }
  virtual Kind kind() const = 0;
  /// Runs the instruments' before-callbacks, the body on a copy of `module`, then the after-callbacks. A
  /// direct call ignores all gates. Origins of `module` that no node of the result carries must have been
  /// retired; this is recorded in the result's origin table (OriginVerifier, an instrument, checks it).
  /// Exceptions from the body or an instrument are annotated with the names of the passes they passed
  /// through; `module` is unchanged.
  IRModule operator()(const IRModule& module, const BuildContext& context) const;

 protected:
  virtual IRModule run(const IRModule& module, const BuildContext& context) const = 0;
  /// Runs after the body, once its retired origins are recorded in the module's table.
  virtual IRModule finish(const IRModule& module, const BuildContext&) const { return module; }

 private:
  IRModule run_observed(const IRModule& module, const BuildContext& context) const;
  PassInfo info_;
  bool may_retire_;
};

/// A pass over the whole module, which receives its own copy. A body that runs other passes must not retire
/// origins before them.
Pass module_pass(PassInfo info, std::function<IRModule(IRModule, const BuildContext&)> body,
                 bool may_retire = false);
/// A pass over each function without Compiler / SkipOptimization / Extern, followed by InferType on the
/// module.
Pass function_pass(PassInfo info,
                   std::function<Function(const Function&, const IRModule&, const BuildContext&)> body,
                   bool may_retire = false);
/// Runs passes in order, subject to gates (pass_enabled), each after its required passes, which are made by
/// name (make_pass).
Pass sequential(std::vector<Pass> passes, std::string name = "sequential", int opt_level = 0,
                std::vector<std::string> required = {});
const std::vector<Pass>& passes_of(const PassNode& sequential);

/// Passes by name: for `required`, the command line and Python. Omitted arguments take the pass's defaults.
using PassFactory = std::function<Pass(const PassArgs&)>;
void register_pass(const std::string& name, PassFactory factory);  ///< called from transform/register.cc
/// UsageError with a "did you mean" suggestion for an unknown pass or argument.
Pass make_pass(const std::string& name, const PassArgs& args = {});
std::vector<std::string> pass_names();  ///< sorted

/// "Run Function pass: FuseOps at the optimization level 0", the str() of a pass or its info in Python.
std::string pass_text(const PassNode& pass);
std::string pass_info_text(const PassInfo& info);

}  // namespace baton
