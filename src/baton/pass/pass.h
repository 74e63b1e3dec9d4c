#pragma once
// Passes, PassContext and instruments: names, gates and callback order as in TVM 0.11.1
// (see docs/compatibility.md for what differs).
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "baton/ir/module.h"
#include "baton/pass/config.h"
#include "baton/pass/pass_args.h"

namespace baton {

struct PassInfo {
  int opt_level = 0;
  std::string name;
  std::vector<std::string> required;  ///< passes that Sequential runs first: {"InferType"}
};

/// Observes passes. Subclasses override what they need; the default does nothing.
class PassInstrument {
 public:
  virtual ~PassInstrument() = default;
  virtual std::string name() const = 0;
  virtual void enter_pass_ctx() {}
  virtual void exit_pass_ctx() {}
  virtual bool should_run(const IRModule&, const PassInfo&) { return true; }
  virtual void run_before_pass(const IRModule&, const PassInfo&) {}
  virtual void run_after_pass(const IRModule&, const PassInfo&) {}
};

/// Evaluates calls of constants at compile time. Implemented above (codegen), handed in by the driver or
/// Python.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// The value of `call` (an operator call whose arguments are constants, tuples of them, or such calls); one
  /// array per output. Throws NotSupported when an operator has no compute; calls in arguments may then be
  /// tried one at a time.
  virtual std::vector<NDArray> evaluate(const CallNode& call) = 0;
};

class PassContext;
using PassContextRef = std::shared_ptr<PassContext>;

/// What passes run under. Contexts nest per thread; the inner one replaces the outer entirely.
class PassContext {
 public:
  int opt_level = 2;
  std::vector<std::string> required_pass, disabled_pass;
  std::vector<std::shared_ptr<PassInstrument>> instruments;
  PassConfig config;
  std::shared_ptr<Evaluator> evaluator;  ///< null: default_evaluator()

  /// The innermost entered context of this thread, else the thread's default (opt_level 2).
  static PassContextRef current();
  /// Pushes `context` and calls enter_pass_ctx of its instruments. When one throws, those entered before are
  /// exited, instruments are cleared, nothing is pushed, and the exception goes on.
  static void enter(const PassContextRef& context);
  /// Pops and calls exit_pass_ctx in order; when one throws, the rest are not exited and instruments are
  /// cleared.
  static void exit(const PassContextRef& context);
  /// exit_pass_ctx of the old instruments, then enter_pass_ctx of the new.
  void override_instruments(std::vector<std::shared_ptr<PassInstrument>> instruments);

  /// disabled -> false; required -> true; else opt_level >= info.opt_level.
  bool pass_enabled(const PassInfo& info) const;
};

/// Enters a context for a C++ scope.
class PassContextScope {
 public:
  explicit PassContextScope(PassContextRef context) : context_(std::move(context)) {
    PassContext::enter(context_);
  }
  /// Throws what exit_pass_ctx throws, unless another exception is on its way.
  ~PassContextScope() noexcept(false);

 private:
  PassContextRef context_;
  int exceptions_ = std::uncaught_exceptions();
};

/// Used when a context names no evaluator; set once by the driver.
void set_default_evaluator(std::shared_ptr<Evaluator> evaluator);
Evaluator& evaluator_of(const PassContext& context);  ///< NotSupported when there is none

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
  IRModule operator()(const IRModule& module) const;

 protected:
  virtual IRModule run(const IRModule& module, const PassContext& context) const = 0;
  /// What follows the body: by then what it retired is entered in the module's table.
  virtual IRModule finish(const IRModule& module) const { return module; }

 private:
  IRModule run_observed(const IRModule& module) const;
  PassInfo info_;
  bool may_retire_;
};

/// A pass over the whole module: gets a copy of its own. A body that runs other passes must not retire before
/// them.
Pass module_pass(PassInfo info, std::function<IRModule(IRModule, const PassContext&)> body,
                 bool may_retire = false);
/// A pass over each function without Compiler / SkipOptimization / Extern; InferType runs over the module
/// after it.
Pass function_pass(PassInfo info,
                   std::function<Function(const Function&, const IRModule&, const PassContext&)> body,
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

/// "Run Function pass: FuseOps at the optimization level 0", as Python's str() shows a pass, its info, a
/// context.
std::string pass_text(const PassNode& pass);
std::string pass_info_text(const PassInfo& info);
std::string pass_context_text(const PassContext& context);

}  // namespace baton
