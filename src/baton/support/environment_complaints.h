#pragma once
// The environment variables that Baton reads, and what is wrong with the values that they have.
#include <string>
#include <vector>

namespace baton {

struct EnvironmentComplaint {
  std::string text;
  bool is_error = false;  ///< a value without meaning; else a warning: a name that nothing reads, a file that
                          ///< is not there
};

/// What is wrong with variables of Baton's, and with names close to theirs. They are read where they are
/// needed; entry points say this at the beginning, since a value that is not used changes results and times
/// without a word.
std::vector<EnvironmentComplaint> environment_complaints();

}  // namespace baton
