#pragma once
// The door between Python's ambient state and C++: what `with PassContext(...)`, `with Target(...)`,
// requantize_config and LayoutConfig made current on this thread becomes the BuildContext that everything
// below is handed. Nothing below looks here.
#include "baton/codegen/backend.h"
#include "baton/transform/layout/skipped_layers.h"

namespace baton::python {

/// The context of what this thread calls now: under a build or pass that called Python, that one's with what
/// was entered since; else that of the host. Its progress is empty.
BuildContext door_context();

/// The innermost entered PassContext of this thread, else the thread's default (opt_level 2).
PassContextRef current_passes();
/// Enters the instruments, then makes the context current; when an instrument throws, nothing is entered.
void enter_passes(const PassContextRef& context);
void exit_passes(const PassContextRef& context);

/// Of the other `with`: entering makes current, leaving takes the innermost away. A null target: none is
/// current.
void enter_target(TargetRef target);
void exit_target();
void enter_requantize_config(RequantizeConfig config);
void exit_requantize_config();
RequantizeConfig current_requantize_config();
void enter_skipped_layers(std::vector<int64_t> numbers);
void exit_skipped_layers();
std::shared_ptr<SkippedLayers> current_skipped_layers();  ///< null: none

/// What the timing instrument of the innermost context that has one says, the default one included.
std::string render_pass_timing();

/// While one lives, this thread runs Python code that C++ calls under `context`, which is current there.
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
