#pragma once
// What only some calls need (plug-ins, baton-runner, other engines) is not built with the program: in a clone
// it is built when it is needed first.
#include <string>

namespace baton {

/// Builds and installs a part as `./baton setup PART` does, in the clone whose `./baton` started this
/// process. Tries each part once in a process; what it does and why it fails is written to standard error.
/// False: it failed, or this process does not come from a clone.
bool build_part(const std::string& part);

/// The folder of that clone; empty: none.
std::string clone_folder();

}  // namespace baton
