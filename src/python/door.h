#pragma once
// Converts Python's ambient state to a BuildContext: what `with PassContext(...)`, `with Target(...)`,
// requantize_config and LayoutConfig set on this thread. C++ code below gets the BuildContext explicitly and
// does not access this state.
#include "baton/codegen/backend.h"
#include "baton/transform/layout/skipped_layers.h"

namespace baton::python {

/// The context for calls from this thread: inside a callback of a build or pass, that one's with the contexts
/// entered since; else the host's. Its progress is empty.
BuildContext door_context();

/// Reads the environment again, since Python may have changed os.environ: for entry points that need it and
/// no context. door_context() does it, too. Takes Python's lock, under which os.environ is written.
void read_environment();

/// The innermost entered PassContext of this thread, else the thread's default (opt_level 2).
PassContextRef current_passes();
/// Enters the instruments, then makes the context current; when an instrument throws, nothing is entered.
void enter_passes(const PassContextRef& context);
void exit_passes(const PassContextRef& context);

/// The other `with` statements: enter pushes, exit pops the innermost. A null target means no current target.
void enter_target(TargetRef target);
void exit_target();
void enter_requantize_config(RequantizeConfig config);
void exit_requantize_config();
RequantizeConfig current_requantize_config();
void enter_skipped_layers(std::vector<int64_t> numbers);
void exit_skipped_layers();
std::shared_ptr<SkippedLayers> current_skipped_layers();  ///< null: none

/// The report of the innermost context with a timing instrument, including the default context.
std::string render_pass_timing();

/// RAII: this thread runs a Python callback under `context`, which is current in it.
class CallbackScope {
 public:
  explicit CallbackScope(const BuildContext& context);
  ~CallbackScope();
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

 private:
  size_t passes_, targets_, requantize_, skipped_;
};

}  // namespace baton::python
