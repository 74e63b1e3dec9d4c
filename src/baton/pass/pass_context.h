#pragma once
// PassContext: pass options, as in TVM 0.11.1's `with PassContext(...)`. A part of the BuildContext passed to
// every pass; there is no thread-local current context.
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baton/ir/module.h"
#include "baton/pass/config.h"

namespace baton {

struct BuildContext;

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

/// Evaluates calls with constant arguments at compile time. Implemented in codegen, injected by the driver or
/// Python.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// The value of `call` (an operator call whose arguments are constants, tuples of them, or such calls); one
  /// array per output. Throws NotSupported when it can only be computed at run time; see value_if_known.
  virtual std::vector<NDArray> evaluate(const CallNode& call, const BuildContext& context) = 0;
};

class PassContext;
using PassContextRef = std::shared_ptr<PassContext>;

class PassContext {
 public:
  int opt_level = 2;
  std::vector<std::string> required_pass, disabled_pass;
  std::vector<std::shared_ptr<PassInstrument>> instruments;
  PassConfig config;
  std::shared_ptr<Evaluator> evaluator;  ///< null: default_evaluator()

  /// Calls enter_pass_ctx of the instruments. When one throws, those already entered are exited, the
  /// instruments are cleared, and the exception is rethrown.
  void enter_instruments();
  /// Calls exit_pass_ctx in order. When one throws, the rest are not exited and the instruments are cleared.
  void exit_instruments();
  /// exit_pass_ctx of the old instruments, then enter_pass_ctx of the new.
  void override_instruments(std::vector<std::shared_ptr<PassInstrument>> instruments);

  /// disabled -> false; required -> true; else opt_level >= info.opt_level.
  bool pass_enabled(const PassInfo& info) const;
};

/// RAII: enters the instruments of a context and exits them.
class InstrumentScope {
 public:
  explicit InstrumentScope(PassContextRef context) : context_(std::move(context)) {
    context_->enter_instruments();
  }
  /// Throws what exit_pass_ctx throws, unless another exception is in flight.
  ~InstrumentScope() noexcept(false);
  InstrumentScope(const InstrumentScope&) = delete;
  InstrumentScope& operator=(const InstrumentScope&) = delete;

 private:
  PassContextRef context_;
  int exceptions_ = std::uncaught_exceptions();
};

/// The evaluator for contexts without one; set once by the driver.
void set_default_evaluator(std::shared_ptr<Evaluator> evaluator);
/// The evaluator of the context, else the default one; null in programs built without one.
Evaluator* find_evaluator(const PassContext& context);
/// The value of `call`, as Evaluator::evaluate returns it; nullopt when it can only be computed at run time:
/// an operator, nested ones included, has no compute or no kernel for these types, or there is no evaluator.
/// Callers may then try nested calls one at a time.
std::optional<std::vector<NDArray>> value_if_known(const CallNode& call, const BuildContext& context);

std::string pass_context_text(const PassContext& context);

}  // namespace baton
