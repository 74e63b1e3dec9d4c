#pragma once
// Shared by several verbs: flags for the model and its build, progress, Ctrl-C.
#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baton/cli/verb.h"
#include "baton/driver/build.h"
#include "baton/driver/load_model.h"
#include "baton/pass/pass.h"
#include "baton/profile/measure/measuring_flags.h"
#include "baton/runtime/model.h"
#include "baton/support/require.h"

namespace baton::cli {

/// MODEL and its build flags.
struct ModelFlags {
  std::string model, params, precision, mapping;
  std::vector<std::string> inputs, shapes, targets, own_backends, specialize, most;
  int opt_level = 3;
  bool no_verify = false;  ///< of an artifact
  bool strict = false;     ///< a region that its backend refuses is an error
  bool untuned = false;    ///< default schedules, whatever a tuner kept
  PassConfig config;       ///< options set by other flags

  void add(Flags& flags);
  /// What is built, of a verb that has MODEL itself: --params, --shape, --input-name.
  void add_model(Flags& flags);
  /// How it is built: every option that the verbs for whole programs take.
  void add_build(Flags& flags);
  /// --no-verify: for verbs that run artifacts.
  void add_no_verify(Flags& flags);
  /// --target and --strict: for verbs that build and run, or keep, whole programs.
  void add_target(Flags& flags);
  /// --mapping and --untuned: for verbs that run, or keep, what they build.
  void add_choices(Flags& flags);
  /// The artifact `model`, opened and, unless told otherwise, verified. UsageError for options on the command
  /// line that say how to build a model: this one is built.
  std::unique_ptr<Model> open_artifact(const Io& io) const;
  /// The same for a verb that takes several models, one after the other into `model`.
  void add(Flags& flags, std::vector<std::string>* models);
  /// The build context given by these flags, on this machine.
  BuildContext context() const;
};

/// Waits that long for other programs, which it names on `io.err`. Throws Interrupted.
void wait_for_quiet(double seconds, Io& io);

/// A progress line on standard error: on terminals rewritten in place and erased at the end, elsewhere one
/// line every ten seconds.
class Progress {
 public:
  explicit Progress(Io& io);
  ~Progress() { clear(); }
  /// `seconds_left`: estimated; nullopt: not known.
  void show(const std::string& what, int done, int total, std::optional<double> seconds_left = {});
  void clear();

 private:
  Io& io_;
  size_t width_ = 0;
  int64_t last_line_ns_;
};

/// RAII: Ctrl-C and SIGTERM set the flag instead of ending the process (a second one ends it).
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  const std::atomic<bool>* flag() const;
  /// What a program ended by the signal exits with: 130 or 143; 0: there was none.
  static int exit_status();

 private:
  void (*before_)(int);
  void (*before_term_)(int);
};

/// A loaded and built model with its inputs.
struct BuiltModel {
  LoadedModel model;
  NamedArrays params;
  BuildResult build;
};
/// `instrument`: of its passes; may be null. `programs`: models that are no plans
/// (driver/vm/build_program.h) are taken, too.
BuiltModel build_model(const ModelFlags& flags, Io& io, std::shared_ptr<PassInstrument> instrument = nullptr,
                       const std::function<BuildResult(const IRModule&, const BuildOptions&)>& how = build,
                       bool programs = false);

/// Throws UsageError if one of these options is on the command line; `why`: it has no effect.
void refuse_options(const Io& io, std::initializer_list<const char*> names, const std::string& why);
/// The same for all options that say how a model is built. --debug-dir is none: an artifact's libraries are
/// stored there, too. `shapes`: --shape as well.
void refuse_build_options(const Io& io, const std::string& why, bool shapes = true);

/// Values of inputs, and the file that they come from; empty: there is none.
struct GivenInputs {
  std::string path;
  NamedArrays arrays = {};
};
/// Reads them; no file: none.
GivenInputs read_given_inputs(const std::string& path);
/// Sets the inputs of `executor` to `given` (by name; Error for unknown ones), the others by the tensor rule;
/// says which a file lacks. `weights`: of the model, for the message.
void set_inputs(Executor& executor, const GivenInputs& given, Io& io, const NamedArrays& weights = {});
/// The same without a file.
void set_inputs(Executor& executor, const NamedArrays& given);

}  // namespace baton::cli
