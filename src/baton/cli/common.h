#pragma once
// What several verbs share: the flags that say which model is built how, progress, Ctrl-C.
#include <atomic>
#include <string>
#include <vector>

#include "baton/cli/verb.h"
#include "baton/driver/build.h"
#include "baton/driver/load_model.h"
#include "baton/support/require.h"

namespace baton::cli {

/// MODEL and how to build it.
struct ModelFlags {
  std::string model, params;
  std::vector<std::string> inputs;
  int opt_level = 3;
  PassConfig config;  ///< what other flags ask of the build

  void add(Flags& flags);
  /// What these flags say, for this machine.
  BuildContext context() const;
};

/// A progress line on standard error, only on a terminal: rewritten in place, gone at the end.
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

/// While one lives, Ctrl-C sets the flag instead of ending the process (a second Ctrl-C ends it).
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  const std::atomic<bool>* flag() const;

 private:
  void (*before_)(int);
};

/// A model that was loaded and built, and what its inputs get.
struct BuiltModel {
  LoadedModel model;
  NamedArrays params;
  BuildResult build;
};
BuiltModel build_model(const ModelFlags& flags, Io& io);

/// Sets every input of `executor` by the tensor rule, except those in `given` (by name; Error for others).
void set_inputs(Executor& executor, const NamedArrays& given);

}  // namespace baton::cli
