#pragma once
// Shared by several verbs: flags for the model and its build, progress, Ctrl-C.
#include <atomic>
#include <string>
#include <vector>

#include "baton/cli/verb.h"
#include "baton/driver/build.h"
#include "baton/driver/load_model.h"
#include "baton/support/require.h"

namespace baton::cli {

/// MODEL and its build flags.
struct ModelFlags {
  std::string model, params;
  std::vector<std::string> inputs;
  int opt_level = 3;
  PassConfig config;  ///< options set by other flags

  void add(Flags& flags);
  /// The same for a verb that takes several models, one after the other into `model`.
  void add(Flags& flags, std::vector<std::string>* models);
  /// The build context given by these flags, on this machine.
  BuildContext context() const;
};

/// --threads of a verb that runs models; `threads` is 0 unless it is given: the default of all runs.
Flag& add_threads(Flags& flags, int* threads);

/// A progress line on standard error, on terminals only: rewritten in place, erased at the end.
class Progress {
 public:
  explicit Progress(Io& io) : io_(io) {}
  ~Progress() { clear(); }
  void show(const std::string& what, int done, int total);
  void clear();

 private:
  Io& io_;
  size_t width_ = 0;
};

/// RAII: Ctrl-C sets the flag instead of ending the process (a second Ctrl-C ends it).
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  const std::atomic<bool>* flag() const;

 private:
  void (*before_)(int);
};

/// A loaded and built model with its inputs.
struct BuiltModel {
  LoadedModel model;
  NamedArrays params;
  BuildResult build;
};
BuiltModel build_model(const ModelFlags& flags, Io& io);

/// Sets the inputs of `executor` to `given` (by name; Error for unknown ones), the others by the tensor rule.
void set_inputs(Executor& executor, const NamedArrays& given);

}  // namespace baton::cli
