#pragma once
// The options of a command (support/options/flags.h) as keyword arguments of a Python function.
#include <string>

#include "baton/support/options/flags.h"

#include "python/casters.h"
#include "python/door.h"

namespace baton::python {

/// [(keyword, default, documentation)], in the order of --help; None: a default that is no value of the
/// option.
nb::list described(const Flags& flags);

/// Sets the options that `given` names; those that are None keep their default. Throws TypeError for an
/// unknown one and for a value of another type, UsageError, in the words of the command line, for one that is
/// out of range. `function`: in errors.
void set_options(const char* function, const Flags& flags, const nb::dict& given);

/// `text` with the keywords of options in place of their names: "max_hours" for "--max-hours".
std::string with_keywords(const Flags& flags, std::string text);

/// A call of a command: its options, set by keyword arguments.
template <class Command>
struct Called : Command {
  Called(const char* function, const nb::dict& given) {
    read_environment();
    this->add(flags);
    set_options(function, flags, given);
  }
  Called(const Called&) = delete;  // the flags have pointers to the options
  Called& operator=(const Called&) = delete;

  /// What `work` returns; where it throws a UsageError, that names keywords.
  template <class Work>
  auto run(Work work) const {
    try {
      return work();
    } catch (const UsageError& error) {
      throw UsageError(with_keywords(flags, error.what()));
    }
  }

  Flags flags;
};

/// Defines NAME_options(), from which baton/_options.py makes the function's signature.
template <class Command>
void bind_options(nb::module_& m, const char* name) {
  m.def((std::string(name) + "_options").c_str(), [] {
    Command command;
    Flags flags;
    command.add(flags);
    return described(flags);
  });
}

}  // namespace baton::python
