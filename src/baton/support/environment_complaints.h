#pragma once
// What is wrong with the environment variables that Baton reads (support/base/environment.def).
#include <string>
#include <vector>

namespace baton {

struct EnvironmentComplaint {
  std::string text;
  bool is_error = false;  ///< a value without meaning; else a warning: a name that nothing reads, a file that
                          ///< is not there
};

/// What is wrong with variables of Baton's, and with names close to theirs. Entry points say this at the
/// beginning, since a value that is not used changes results and times without a word.
std::vector<EnvironmentComplaint> environment_complaints();

}  // namespace baton
