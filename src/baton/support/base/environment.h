#pragma once
// Environment: the settings that Baton takes from environment variables, as one value. Nothing else reads
// them (tools/check_layers). A process has one, read when its first library of Baton is loaded, as the
// runtime may run without any other entry point. Entry points whose callers change variables meanwhile
// (Python) read it again at each call.
#include <memory>
#include <string>
#include <vector>

namespace baton {

struct Environment {
  /// The values of the variables in environment.def; "" where a variable is not set.
#define BATON_SETTING(member, name, kind, otherwise, meaning) std::string member = {};
#define BATON_FOREIGN_SETTING(name, kind, otherwise, meaning)
#include "baton/support/base/environment.def"
#undef BATON_SETTING
#undef BATON_FOREIGN_SETTING

  /// As the variables are now.
  static Environment read();
};

/// The process's environment, unchanged for as long as it is held. Thread safe, also while it is replaced.
std::shared_ptr<const Environment> environment();

/// Replaces it: for entry points, and for tests.
void set_environment(Environment settings);

/// The folder for temporary files: $TMPDIR, or /tmp.
std::string temporary_folder();

/// The nonempty parts of a list that is separated by colons.
std::vector<std::string> listed(const std::string& list);

}  // namespace baton
