#pragma once
// Passes: names, gates and callback order as in TVM 0.11.1
// (see docs/compatibility.md for what differs).
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
  /// Instruments, then the body on a copy of `module`, then instruments. A direct call ignores every gate.
  /// The origins of `module` that no node of the result carries must have been retired; that is entered in
  /// the result's origin table (the check itself is OriginVerifier's, an instrument). What is thrown in the
  /// body, or in an instrument, arrives with the names of the passes it came through; `module` is as it was.
  IRModule operator()(const IRModule& module, const BuildContext& context) const;

 protected:
  virtual IRModule run(const IRModule& module, const BuildContext& context) const = 0;
  /// What follows the body: by then what it retired is entered in the module's table.
  virtual IRModule finish(const IRModule& module, const BuildContext&) const { return module; }

 private:
  IRModule run_observed(const IRModule& module, const BuildContext& context) const;
  PassInfo info_;
  bool may_retire_;
};

/// A pass over the whole module: gets a copy of its own. A body that runs other passes must not retire before
/// them.
Pass module_pass(PassInfo info, std::function<IRModule(IRModule, const BuildContext&)> body,
                 bool may_retire = false);
/// A pass over each function without Compiler / SkipOptimization / Extern; InferType runs over the module
/// after it.
Pass function_pass(PassInfo info,
                   std::function<Function(const Function&, const IRModule&, const BuildContext&)> body,
                   bool may_retire = false);
/// Applies gates (pass_enabled) and required passes to each. Required ones are made by name (make_pass).
Pass sequential(std::vector<Pass> passes, std::string name = "sequential", int opt_level = 0,
                std::vector<std::string> required = {});
const std::vector<Pass>& passes_of(const PassNode& sequential);

/// Passes by name: for `required`, the command line and Python. Without arguments a pass has its defaults.
using PassFactory = std::function<Pass(const PassArgs&)>;
void register_pass(const std::string& name, PassFactory factory);  ///< called from transform/register.cc
/// UsageError with "did you mean" when the pass, or an argument of it, is not known.
Pass make_pass(const std::string& name, const PassArgs& args = {});
std::vector<std::string> pass_names();  ///< sorted

/// "Run Function pass: FuseOps at the optimization level 0", as Python's str() shows a pass, its info.
std::string pass_text(const PassNode& pass);
std::string pass_info_text(const PassInfo& info);

}  // namespace baton
